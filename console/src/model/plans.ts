/** Plans: the changes of an update or the resources of a create, in one shape. */

import {
  CHANGES,
  type ChangedResource,
  type ChangeKind,
  type PreviewedTree,
  type UpdatePreview,
} from "../api/types";

export interface PlannedChange {
  kind: ChangeKind;
  /** Whether it depends on values that are not known before the operation. */
  isPerhaps: boolean;
  path: string[];
  resource: ChangedResource;
}

/** Return the changes in the order in which they happen; those without a change at the end. */
export function changesOf(preview: UpdatePreview["resource_changes"]): PlannedChange[] {
  const all = CHANGES.flatMap((kind) => (preview[kind] ?? []).map((resource) => planned(kind, resource)));
  return all.sort(
    (a, b) =>
      Number(a.kind === "unchanged") - Number(b.kind === "unchanged") ||
      (a.resource.step ?? 0) - (b.resource.step ?? 0) ||
      a.path.join("/").localeCompare(b.path.join("/")),
  );
}

function planned(kind: ChangeKind, resource: ChangedResource): PlannedChange {
  const path = pathOf(resource);
  const isRead = resource.change_reason === "nested" && resource.inside === "same";
  if (kind === "updated" && isRead) return { kind: "unchanged", isPerhaps: false, path, resource };
  const isUnknown =
    resource.change_reason === "unknown" ||
    (resource.change_reason === "nested" && resource.inside === "unknown");
  if (kind !== "updated" || !isUnknown) return { kind, isPerhaps: false, path, resource };
  const mayReplace = resource.may_force?.length > 0;
  return { kind: mayReplace ? "replaced" : "updated", isPerhaps: true, path, resource };
}

function pathOf(resource: ChangedResource): string[] {
  return resource.path && resource.path.length > 0 ? resource.path : [resource.resource_name];
}

const NOTHING_CHANGES: Omit<ChangedResource, "resource_name" | "resource_type" | "properties"> = {
  stack_name: "",
  property_changes: [],
  change_reason: "",
  forced_by: [],
  may_force: [],
  step: 0,
  after: [],
  interruptions: {},
  keeps_object: false,
  holds_data: false,
  overwrites_data: false,
  inside: null,
  moved_from: null,
  imported: null,
  resembles: null,
  position: null,
};

/** Return the resources of a new stack as added ones. */
export function addedIn(tree: PreviewedTree, imports: Record<string, string[]> = {}): PlannedChange[] {
  const found: PlannedChange[] = [];
  const walk = (nodes: PreviewedTree, within: string[]): void => {
    for (const node of nodes) {
      if (Array.isArray(node)) {
        walk(node, [...within, ...parentOf(node)]);
        continue;
      }
      const path = [...within, node.resource_name];
      const imported = imports[path.join("/")] ? path.join("/") : null;
      found.push({
        kind: "added",
        isPerhaps: false,
        path,
        resource: { ...NOTHING_CHANGES, ...node, imported } as ChangedResource,
      });
    }
  };
  walk(tree, []);
  return found;
}

/** Return the resource that the members of a nested list belong to. */
function parentOf(nodes: PreviewedTree): string[] {
  const member = nodes.find((each) => !Array.isArray(each));
  return member && !Array.isArray(member) && member.parent_resource ? [member.parent_resource] : [];
}

/** Return how many changes there are of each kind. */
export function countsOf(changes: readonly PlannedChange[]): Record<ChangeKind, number> {
  const counts: Record<ChangeKind, number> = { added: 0, replaced: 0, updated: 0, deleted: 0, unchanged: 0 };
  for (const each of changes) counts[each.kind]++;
  return counts;
}
