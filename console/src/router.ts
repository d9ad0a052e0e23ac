/** The address of the page: every view has one, which can be shared. */

import { signal } from "@preact/signals";

const BASE = "/console";
const PROJECT = /^\/console\/projects\/([^/]+)\//;

export interface Address {
  path: string;
  query: URLSearchParams;
}

const read = (): Address => ({
  path: location.pathname.slice(BASE.length) || "/",
  query: new URLSearchParams(location.search),
});

export const address = signal<Address>(read());

/** Follow the browser's back and forward. */
export function listen(): void {
  addEventListener("popstate", () => {
    address.value = read();
  });
}

/** Go to a path of the console. */
export function go(path: string, { replace = false } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", BASE + path);
  address.value = read();
}

/** Change parts of the query; null removes a part. The page stays where it is. */
export function setQuery(changes: Record<string, string | null>, { replace = true } = {}): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(address.value.path + (text ? `?${text}` : ""), { replace });
}

/**
 * Return the page of a stack. Stacks of other projects, which administrators see, have the project
 * in their address; without one it is the project of the present page.
 */
export function stackPage(stack: { name: string; id: string }, view = "", project?: string): string {
  const visited = project ?? PROJECT.exec(location.pathname)?.[1];
  const prefix = visited ? `/projects/${visited}` : "";
  const path = `${prefix}/stacks/${encodeURIComponent(stack.name)}/${encodeURIComponent(stack.id)}`;
  return view ? `${path}/${view}` : path;
}

/** Return the address for the `href` of a link. */
export const href = (path: string): string => BASE + path;

/** Handle a click on a link to a page of the console; other clicks are the browser's. */
export function onLink(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.target || link.origin !== location.origin) return;
  if (!link.pathname.startsWith(`${BASE}/`) || link.hasAttribute("download")) return;
  event.preventDefault();
  go(link.pathname.slice(BASE.length) + link.search);
}
