/** Statuses: CREATE_COMPLETE and its like, as action, status and look. */

export type Look = "done" | "working" | "failed" | "waiting" | "gone" | "idle";

/** Split `CREATE_IN_PROGRESS` into action and status. */
export function split(status: string): { action: string; status: string } {
  const [action = "", ...rest] = status.split("_");
  return { action, status: rest.join("_") };
}

/** Return how a status is shown. */
export function lookOf(full: string): Look {
  const { action, status } = split(full);
  if (status === "FAILED") return "failed";
  if (status === "IN_PROGRESS") return "working";
  if (action === "INIT" || !full) return "waiting";
  if (status === "COMPLETE") return action === "DELETE" ? "gone" : action === "SUSPEND" ? "idle" : "done";
  return "waiting";
}

export const isOpen = (full: string): boolean => split(full).status === "IN_PROGRESS";
