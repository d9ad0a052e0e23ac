/** Plans of creates and updates. */

import { json, stackPath } from "../api/client";
import type { CreatePreview, ResourceRow, Stack, UpdatePreview } from "../api/types";
import { addedIn, changesOf, type PlannedChange } from "./plans";
import { type Resource, StackTree } from "./tree";

/** The stack that is updated, as it was when the page was opened. */
export interface Current {
  stack: Stack;
  text: string;
  files: Record<string, string>;
  environment: Record<string, unknown>;
}

export interface Plan {
  changes: PlannedChange[];
  fingerprint: string | null;
  preview: CreatePreview | UpdatePreview;
  /** Names of the resources that need a resource, by its path; for an existing stack. */
  dependants: ReadonlyMap<string, readonly string[]>;
  /** The state of the stack before the plan was made; null for a new stack. */
  state: string | null;
  body: Record<string, unknown>;
}

/** Plan a create or an update. Raises ApiError. */
export async function planned(current: Current | null, body: Record<string, unknown>): Promise<Plan> {
  const query = { fingerprint: true, quotas: true };
  if (!current) {
    const preview = await json<CreatePreview>("POST", "/stacks/preview", { query, body });
    const changes = addedIn(preview.stack.resources, preview.imports);
    return {
      changes,
      fingerprint: preview.plan_fingerprint,
      preview,
      state: null,
      dependants: new Map(),
      body,
    };
  }
  const path = stackPath(current.stack.stack_name, current.stack.id);
  const [state, dependants] = await Promise.all([stateOf(path), dependantsOf(current.stack)]);
  const preview = await json<UpdatePreview>("PATCH", `${path}/preview`, {
    query: { ...query, show_nested: true, warnings: true },
    body,
  });
  return {
    changes: changesOf(preview.resource_changes),
    fingerprint: preview.plan_fingerprint,
    preview,
    state,
    dependants,
    body,
  };
}

async function dependantsOf(stack: Stack): Promise<Map<string, readonly string[]>> {
  const address = { name: stack.stack_name, id: stack.id };
  const tree = new StackTree(address);
  const answer = await json<{ resources: ResourceRow[] }>(
    "GET",
    `${stackPath(address.name, address.id)}/resources`,
    { query: { nested_depth: 20 } },
  );
  tree.load(answer.resources);
  const nameOf = (each: Resource): string =>
    tree
      .path(each)
      .map((part) => part.name)
      .join("/");
  return new Map([...tree.resources.values()].map((each) => [nameOf(each), each.requiredBy]));
}

/** Return what changes whenever the stack does. */
export async function stateOf(path: string): Promise<string> {
  const { stack } = await json<{ stack: Stack }>("GET", path, { query: { resolve_outputs: false } });
  return `${stack.updated_time} ${stack.stack_status}`;
}
