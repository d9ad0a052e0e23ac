/**
 * The resources of a stack and of its nested stacks, kept current by events.
 *
 * A resource is known by the id of its stack and its name. Nested stacks know the resource that
 * they belong to, so the tree can be walked in both directions.
 */

import type { ResourceRow } from "../api/types";
import { type StackAddress, stackIn } from "./addresses";
import type { StackEvent } from "./events";

export interface Resource {
  key: string;
  name: string;
  stack: StackAddress;
  type: string;
  status: string;
  reason: string;
  physicalId: string;
  updated: string;
  requiredBy: readonly string[];
  /** The stack inside of this resource. */
  nested: StackAddress | null;
  parent: string | null;
}

export interface StackState {
  status: string;
  reason: string;
}

export const keyOf = (stackId: string, name: string): string => `${stackId}/${name}`;

export class StackTree {
  readonly resources = new Map<string, Resource>();
  private readonly members = new Map<string, Set<string>>();
  private readonly owners = new Map<string, string>();

  constructor(readonly root: StackAddress) {}

  /** Replace all resources with those of a list. */
  load(rows: readonly ResourceRow[]): void {
    this.resources.clear();
    this.members.clear();
    this.owners.clear();
    for (const row of rows) this.put(row);
    for (const resource of this.resources.values()) {
      resource.parent = this.owners.get(resource.stack.id) ?? null;
    }
  }

  private put(row: ResourceRow): void {
    const stack = stackIn(row.links, "stack") ?? this.root;
    const key = keyOf(stack.id, row.resource_name);
    const nested = stackIn(row.links, "nested");
    this.resources.set(key, {
      key,
      name: row.resource_name,
      stack,
      type: row.resource_type,
      status: row.resource_status,
      reason: row.resource_status_reason,
      physicalId: row.physical_resource_id,
      updated: row.updated_time,
      requiredBy: row.required_by,
      nested,
      parent: null,
    });
    if (nested) this.owners.set(nested.id, key);
    const siblings = this.members.get(stack.id) ?? new Set();
    siblings.add(key);
    this.members.set(stack.id, siblings);
  }

  /**
   * Apply an event. Returns whether the list has to be read again: an event names a resource
   * that is not known, or one that has gone.
   */
  apply(event: StackEvent): boolean {
    const { stack } = event;
    if (event.isOfStack) return event.status === "DELETE_COMPLETE" && stack.id !== this.root.id;
    const known = this.resources.get(keyOf(stack.id, event.name));
    if (!known) return event.status !== "DELETE_COMPLETE";
    known.status = event.status;
    known.reason = event.reason;
    known.updated = new Date(event.at).toISOString();
    if (event.physicalId) known.physicalId = event.physicalId;
    return event.status === "DELETE_COMPLETE";
  }

  /** Return the resources of one stack of the tree. */
  of(stackId: string): Resource[] {
    return [...(this.members.get(stackId) ?? [])].flatMap((key) => this.resources.get(key) ?? []);
  }

  /** Return the resource with all that contain it, the outermost first. */
  path(resource: Resource): Resource[] {
    const above = resource.parent ? this.resources.get(resource.parent) : undefined;
    return above ? [...this.path(above), resource] : [resource];
  }

  /** Return all resources inside a resource, at any depth. */
  *inside(resource: Resource): Iterable<Resource> {
    if (!resource.nested) return;
    for (const each of this.of(resource.nested.id)) {
      yield each;
      yield* this.inside(each);
    }
  }
}

/** Return how many resources have each look or status. */
export function countsOf<K extends string>(
  resources: Iterable<Resource>,
  of: (r: Resource) => K,
): Map<K, number> {
  const counts = new Map<K, number>();
  for (const each of resources) counts.set(of(each), (counts.get(of(each)) ?? 0) + 1);
  return counts;
}
