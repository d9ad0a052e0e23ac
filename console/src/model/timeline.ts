/**
 * Operations of a stack as bars: one for each action on a resource, from its start to its end.
 *
 * The critical path is the chain of bars that decided how long the operation took: from the bar
 * that ended last, back to the bar that it waited for, which is the last to end before its start
 * among those that it depends on.
 */

import type { EventRow } from "../api/types";
import { stackIn } from "./addresses";
import { split } from "./statuses";
import { keyOf, type StackTree } from "./tree";

export interface Bar {
  key: string;
  name: string;
  stackName: string;
  stackId: string;
  type: string;
  action: string;
  start: number;
  /** undefined while the action is under way. */
  end?: number;
  outcome: "working" | "done" | "failed";
  reason: string;
  notes: { at: number; text: string }[];
  depth: number;
}

export interface Operation {
  action: string;
  start: number;
  end?: number;
  outcome: Bar["outcome"];
  reason: string;
  bars: Bar[];
}

/** Split events, oldest first, into the operations of the root stack, oldest first. */
export function operationsOf(events: readonly EventRow[], rootId: string): Operation[] {
  const operations: Operation[] = [];
  let open = new Map<string, Bar>();
  let depths = new Map<string, number>([[rootId, 0]]);
  for (const event of events) {
    const at = Date.parse(event.event_time);
    const { action, status } = split(event.resource_status);
    const stack = stackIn(event.links, "stack");
    const stackId = stack?.id ?? rootId;
    const isRoot = stackId === rootId && event.physical_resource_id === rootId;
    let current = operations.at(-1);
    if (isRoot) {
      if (status === "IN_PROGRESS" && (!current || current.end !== undefined || current.action !== action)) {
        if (current && current.end === undefined) current.end = at;
        operations.push({
          action,
          start: at,
          outcome: "working",
          reason: event.resource_status_reason,
          bars: [],
        });
        open = new Map();
        depths = new Map([[rootId, 0]]);
      } else if (current && status !== "IN_PROGRESS") {
        current.end = at;
        current.outcome = status === "FAILED" ? "failed" : "done";
        current.reason = event.resource_status_reason;
      }
      continue;
    }
    if (event.physical_resource_id === stackId && event.resource_name === stack?.name) continue;
    if (!current) {
      current = { action, start: at, outcome: "working", reason: "", bars: [] };
      operations.push(current);
    }
    const key = keyOf(stackId, event.resource_name);
    const bar = open.get(key);
    if (status === "IN_PROGRESS" && !(bar && bar.action === action)) {
      const depth = depths.get(stackId) ?? 1;
      const fresh: Bar = {
        key,
        name: event.resource_name,
        stackName: stack?.name ?? "",
        stackId,
        type: event.resource_type ?? "",
        action,
        start: at,
        outcome: "working",
        reason: event.resource_status_reason,
        notes: [],
        depth,
      };
      current.bars.push(fresh);
      open.set(key, fresh);
    } else if (bar && (status === "COMPLETE" || status === "FAILED") && bar.action === action) {
      bar.end = at;
      bar.outcome = status === "FAILED" ? "failed" : "done";
      bar.reason = event.resource_status_reason;
      open.delete(key);
    } else if (bar) {
      bar.notes.push({ at, text: event.resource_status_reason || event.resource_status });
    }
  }
  return operations;
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
