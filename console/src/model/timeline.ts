/**
 * Operations of a stack as bars: one for each action on a resource, from its start to its end.
 *
 * The critical path is the chain of bars that decided how long the operation took: from the bar
 * that ended last, back to the bar that it waited for, which is the last to end before its start
 * among those that it depends on.
 */

import type { StackEvent } from "./events";
import { split } from "./statuses";
import { keyOf, type StackTree } from "./tree";

export interface Bar {
  key: string;
  name: string;
  stackId: string;
  action: string;
  start: number;
  /** undefined while the action is under way. */
  end?: number;
  outcome: "working" | "done" | "failed";
  reason: string;
  notes: { at: number; text: string }[];
}

export interface Operation {
  action: string;
  start: number;
  end?: number;
  outcome: Bar["outcome"];
  reason: string;
  bars: Bar[];
}

/** Return whether an event starts an operation of the root stack. */
export function startsOperation(event: StackEvent, rootId: string): boolean {
  return event.isOfStack && event.stack.id === rootId && split(event.status).status === "IN_PROGRESS";
}

/** Split events, oldest first, into the operations of the root stack, oldest first. */
export function operationsOf(events: readonly StackEvent[], rootId: string): Operation[] {
  const operations: Operation[] = [];
  let open = new Map<string, Bar>();
  for (const event of events) {
    const { action, status } = split(event.status);
    let current = operations.at(-1);
    if (event.isOfStack) {
      if (event.stack.id !== rootId) continue;
      if (status === "IN_PROGRESS" && (current?.end !== undefined || current?.action !== action)) {
        if (current && current.end === undefined) current.end = event.at;
        operations.push(operation(event, action));
        open = new Map();
      } else if (current && status !== "IN_PROGRESS") {
        current.end = event.at;
        current.outcome = status === "FAILED" ? "failed" : "done";
        current.reason = event.reason;
      }
      continue;
    }
    if (!current) {
      current = operation(event, action);
      operations.push(current);
    }
    const key = keyOf(event.stack.id, event.name);
    const bar = open.get(key);
    if (status === "IN_PROGRESS" && bar?.action !== action) {
      const fresh = barOf(event, key, action);
      current.bars.push(fresh);
      open.set(key, fresh);
    } else if (bar?.action === action && status !== "IN_PROGRESS") {
      bar.end = event.at;
      bar.outcome = status === "FAILED" ? "failed" : "done";
      bar.reason = event.reason;
      open.delete(key);
    } else if (bar) {
      bar.notes.push({ at: event.at, text: event.reason || event.status });
    }
  }
  return operations;
}

function operation(event: StackEvent, action: string): Operation {
  return { action, start: event.at, outcome: "working", reason: event.reason, bars: [] };
}

function barOf(event: StackEvent, key: string, action: string): Bar {
  return {
    key,
    name: event.name,
    stackId: event.stack.id,
    action,
    start: event.at,
    outcome: "working",
    reason: event.reason,
    notes: [],
  };
}

/** Return the keys of the bars that decided the duration, the first first. */
export function criticalPath(operation: Operation, tree: StackTree, now: number): string[] {
  const bars = operation.bars;
  const endOf = (bar: Bar): number => bar.end ?? now;
  const requires = new Map<string, string[]>();
  for (const resource of tree.resources.values()) {
    for (const name of resource.requiredBy) {
      const dependant = keyOf(resource.stack.id, name);
      requires.set(dependant, [...(requires.get(dependant) ?? []), resource.key]);
    }
  }
  const byKey = new Map<string, Bar[]>();
  for (const bar of bars) byKey.set(bar.key, [...(byKey.get(bar.key) ?? []), bar]);
  const path: Bar[] = [];
  const top = bars.filter((bar) => bar.stackId === tree.root.id);
  let current = latest(top.length ? top : bars, endOf);
  while (current && !path.includes(current)) {
    path.unshift(current);
    const start = current.start;
    const before = (requires.get(current.key) ?? [])
      .flatMap((key) => byKey.get(key) ?? [])
      .filter((bar) => bar.end !== undefined && bar.end <= start + 1000);
    current = latest(before, endOf);
  }
  return path.map((bar) => bar.key);
}

function latest(bars: readonly Bar[], endOf: (bar: Bar) => number): Bar | undefined {
  let found: Bar | undefined;
  for (const bar of bars) if (!found || endOf(bar) > endOf(found)) found = bar;
  return found;
}

/** Return how much longer each resource took than in an earlier operation, in milliseconds. */
export function slower(operation: Operation, earlier: Operation): Map<string, number> {
  const before = new Map<string, number>();
  for (const bar of earlier.bars) if (bar.end !== undefined) before.set(bar.key, bar.end - bar.start);
  const found = new Map<string, number>();
  for (const bar of operation.bars) {
    const took = before.get(bar.key);
    if (took !== undefined && bar.end !== undefined) found.set(bar.key, bar.end - bar.start - took);
  }
  return found;
}
