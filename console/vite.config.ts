import { defineConfig } from "vitest/config";

// The service delivers the assets under /console, with a Content-Security-Policy without "unsafe-inline".
export default defineConfig({
  base: "/console/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/stoker/api/console/assets",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: { proxy: { "^/console/(api|session|tickets)": process.env.STOKER_URL ?? "http://127.0.0.1:8004" } },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"] },
});
