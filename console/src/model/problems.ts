/** Errors of actions that have no place of their own on the page. */

import { signal } from "@preact/signals";

export const problem = signal<unknown>(null);

/** Run work in the background, and show its error. */
export function reported(work: Promise<unknown>): void {
  problem.value = null;
  work.catch((error: unknown) => {
    problem.value = error;
  });
}
