/** Rows as the API sends them. */

import type { ResourceRow } from "../src/api/types";
import { EventReader, type StackEvent } from "../src/model/events";

export const ROOT = { name: "shop", id: "root-id" };

const href = (stack: { name: string; id: string }): string =>
  `http://host/v1/project/stacks/${encodeURIComponent(stack.name)}/${stack.id}`;

interface Given {
  stack?: { name: string; id: string };
  nested?: { name: string; id: string };
  status?: string;
  requiredBy?: string[];
}

export function resource(name: string, given: Given = {}): ResourceRow {
  const stack = given.stack ?? ROOT;
  const links = [{ rel: "stack", href: href(stack) }];
  if (given.nested) links.push({ rel: "nested", href: href(given.nested) });
  return {
    resource_name: name,
    physical_resource_id: `id-${name}`,
    resource_type: "OS::Heat::RandomString",
    resource_status: given.status ?? "CREATE_COMPLETE",
    resource_status_reason: "state changed",
    creation_time: "2026-01-01T00:00:00Z",
    updated_time: "2026-01-01T00:00:00Z",
    required_by: given.requiredBy ?? [],
    links,
  };
}

let number = 0;

export function event(second: number, name: string, status: string, stack = ROOT): StackEvent {
  const isStack = name === stack.name;
  return new EventReader(ROOT).read({
    id: `event-${++number}`,
    links: [{ rel: "stack", href: href(stack) }],
    event_time: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(),
    resource_name: name,
    physical_resource_id: isStack ? stack.id : `id-${name}`,
    resource_status: status,
    resource_status_reason: `${name} ${status}`,
    resource_type: isStack ? "OS::Heat::Stack" : "OS::Heat::RandomString",
  });
}
