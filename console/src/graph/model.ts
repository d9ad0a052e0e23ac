/** What the graph shows: the boxes of a tree, some of them open, and the arrows between them. */

import { type Look, lookOf } from "../model/statuses";
import { visible } from "../model/text";
import { keyOf, type Resource, type StackTree } from "../model/tree";

export interface Box {
  key: string;
  label: string;
  type: string;
  look: Look;
  status: string;
  reason: string;
  /** Number of resources inside, by look; null for a box without a nested stack. */
  inside: Map<Look, number> | null;
  isOpen: boolean;
  /** The box that contains this one; null at the top. */
  within: string | null;
}

export interface Graph {
  boxes: Box[];
  /** Pairs of indices of boxes: the second needs the first. */
  arrows: [number, number][];
}

/** Return the graph of a tree in which the nested stacks of the resources `open` are shown. */
export function graphOf(tree: StackTree, open: ReadonlySet<string>): Graph {
  const boxes: Box[] = [];
  const index = new Map<string, number>();
  const add = (stackId: string, within: string | null): void => {
    for (const resource of tree.of(stackId)) {
      const isOpen = resource.nested !== null && open.has(resource.key);
      index.set(resource.key, boxes.length);
      boxes.push({
        key: resource.key,
        label: visible(resource.name),
        type: resource.type,
        look: lookOf(resource.status),
        status: resource.status,
        reason: resource.reason,
        inside: resource.nested ? looksInside(tree, resource) : null,
        isOpen,
        within,
      });
      if (isOpen && resource.nested) add(resource.nested.id, resource.key);
    }
  };
  add(tree.root.id, null);
  const arrows: [number, number][] = [];
  for (const box of boxes) {
    const resource = tree.resources.get(box.key) as Resource;
    const from = index.get(box.key) as number;
    for (const name of resource.requiredBy) {
      const to = index.get(keyOf(resource.stack.id, name));
      if (to !== undefined) arrows.push([from, to]);
    }
  }
  return { boxes, arrows };
}

function looksInside(tree: StackTree, resource: Resource): Map<Look, number> {
  const counts = new Map<Look, number>();
  for (const each of tree.inside(resource)) {
    const look = lookOf(each.status);
    counts.set(look, (counts.get(look) ?? 0) + 1);
  }
  return counts;
}

/** Return the keys of resources that `key` needs, directly or not, and of those that need it. */
export function related(graph: Graph, key: string): Set<string> {
  const at = graph.boxes.findIndex((box) => box.key === key);
  const found = new Set<number>();
  const walk = (from: number, side: 0 | 1): void => {
    const reached = [from];
    const seen = new Set(reached);
    for (const here of reached) {
      found.add(here);
      for (const arrow of graph.arrows) {
        const next = arrow[side === 0 ? 1 : 0];
        if (arrow[side] === here && !seen.has(next)) {
          seen.add(next);
          reached.push(next);
        }
      }
    }
  };
  if (at >= 0) {
    walk(at, 0);
    walk(at, 1);
  }
  return new Set([...found].map((each) => graph.boxes[each]?.key ?? ""));
}
