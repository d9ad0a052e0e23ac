import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { en } from "../src/i18n/en";
import { zh } from "../src/i18n/zh";

const SOURCES = join(__dirname, "../src");
// Keys that are put together: a view, an action, a kind of change.
const COMPOSED = /^(status|action|plan|stack|resource|signIn)\./;

test("each text is used", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  const code = files
    .filter((name) => !name.startsWith("i18n/"))
    .map((name) => readFileSync(join(SOURCES, name), "utf8"));
  const unused = Object.keys(en).filter(
    (key) => !COMPOSED.test(key) && !code.some((text) => text.includes(`"${key}"`)),
  );
  expect(unused).toEqual([]);
});

test("translations have the same places for values", () => {
  const places = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const [key, text] of Object.entries(en)) {
    expect([key, ...new Set(places(zh[key as keyof typeof en]))]).toEqual([key, ...new Set(places(text))]);
  }
});
