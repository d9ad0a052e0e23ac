/** Ids and names inside the links of the API. */

import type { Link } from "../api/types";

const STACK = /\/stacks\/([^/]+)\/([^/?]+)/;

export interface StackAddress {
  name: string;
  id: string;
}

/** Return the stack that the link with this relation names. */
export function stackIn(links: readonly Link[], rel: string): StackAddress | null {
  const link = links.find((each) => each.rel === rel);
  const found = link && STACK.exec(link.href);
  return found ? { name: decodeURIComponent(found[1] ?? ""), id: decodeURIComponent(found[2] ?? "") } : null;
}
