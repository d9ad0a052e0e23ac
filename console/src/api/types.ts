/** The parts of the API's answers that the console reads. */

export interface Link {
  href: string;
  rel: string;
}

export interface StackRow {
  id: string;
  stack_name: string;
  description: string;
  stack_status: string;
  stack_status_reason: string;
  creation_time: string;
  updated_time: string | null;
  deletion_time: string | null;
  stack_owner: string | null;
  tags: string[] | null;
  project?: string;
}

export interface Output {
  output_key: string;
  description: string;
  output_value?: unknown;
  output_error?: string;
}

export interface Stack extends StackRow {
  parameters: Record<string, unknown>;
  outputs?: Output[];
  template_description: string;
  disable_rollback: boolean;
  timeout_mins: number | null;
  parent: string | null;
  notification_topics: string[];
}

export interface ResourceRow {
  resource_name: string;
  physical_resource_id: string;
  resource_type: string;
  resource_status: string;
  resource_status_reason: string;
  creation_time: string;
  updated_time: string;
  required_by: string[];
  links: Link[];
  parent_resource?: string;
  description?: string;
  attributes?: Record<string, unknown>;
}

export interface EventRow {
  id: string;
  links: Link[];
  event_time: string;
  resource_name: string;
  physical_resource_id: string | null;
  resource_status: string;
  resource_status_reason: string;
  resource_type?: string;
}

export interface Place {
  file: string | null;
  line: number;
  column?: number;
}

export interface Cause {
  kind: string;
  path: string[];
  stack_name: string;
  stack_id: string;
  resource_type: string;
  resource_status: string;
  physical_resource_id: string | null;
  text: string;
  since: string | null;
  waits_for: string[];
  signals: { received: number; wanted: number } | null;
  hook: string | null;
  because_of: string[];
  request_id: string | null;
  position: Place | null;
}

export interface Why {
  stack_status: string;
  stack_status_reason: string;
  since: string | null;
  deadline: string | null;
  complete: boolean;
  causes: Cause[];
}

export interface PropertyChange {
  name: string;
  old: unknown;
  new: unknown;
  known: boolean;
  known_after: string[];
}

export interface ChangedResource {
  resource_name: string;
  resource_type: string;
  physical_resource_id?: string;
  stack_name: string;
  path?: string[];
  required_by?: string[];
  properties: Record<string, unknown>;
  property_changes: PropertyChange[];
  change_reason: string;
  forced_by: string[];
  may_force: string[];
  step: number;
  after: string[];
  interruptions: Record<string, string>;
  keeps_object: boolean;
  holds_data: boolean;
  overwrites_data: boolean;
  inside: string | null;
  moved_from: string | null;
  imported: string | null;
  resembles: string | null;
  position: Place | null;
}

export const CHANGES = ["added", "replaced", "updated", "deleted", "unchanged"] as const;
export type ChangeKind = (typeof CHANGES)[number];

export interface Quota {
  service: string;
  name: string;
  requested: number;
  used: number;
  allowed: number | null;
}

export interface UpdatePreview {
  resource_changes: Record<ChangeKind, ChangedResource[]>;
  plan_fingerprint: string | null;
  quotas?: Quota[];
  warnings?: { path: string[]; message: string }[];
}

export interface PreviewedResource {
  resource_name: string;
  resource_type: string;
  required_by: string[];
  properties: Record<string, unknown>;
  parent_resource?: string;
}

export type PreviewedTree = (PreviewedResource | PreviewedTree)[];

export interface CreatePreview {
  stack: { stack_name: string; parameters: Record<string, unknown>; resources: PreviewedTree };
  plan_fingerprint: string | null;
  quotas?: Quota[];
  imports?: Record<string, string[]>;
}

export interface ParameterSchema {
  Type: string;
  Description: string;
  Label?: string;
  Default?: unknown;
  Value?: unknown;
  NoEcho: string;
  AllowedValues?: unknown[];
  AllowedPattern?: string;
  MinLength?: number;
  MaxLength?: number;
  MinValue?: number;
  MaxValue?: number;
  ConstraintDescription?: string;
  CustomConstraint?: string;
}

export interface Validated {
  Description: string;
  Parameters: Record<string, ParameterSchema>;
  ParameterGroups?: { label?: string; description?: string; parameters: string[] }[];
  diagnostics?: import("./errors").Finding[];
}

export interface Snapshot {
  id: string;
  name: string | null;
  status: string;
  status_reason: string;
  creation_time: string;
}

export interface Deployment {
  id: string;
  config_id: string;
  server_id: string;
  action: string;
  status: string;
  status_reason: string;
  creation_time: string;
  updated_time: string | null;
  output_values: Record<string, unknown> | null;
  input_values?: Record<string, unknown>;
}

export interface DriftedResource {
  resource_name: string;
  resource_type: string;
  physical_resource_id: string;
  stack_name: string;
  stack_id: string;
  state: string;
  reason: string;
  properties: { name: string; applied: unknown; live: unknown; repairable: boolean }[];
  not_compared: string[];
}

export interface Engine {
  id: string;
  engine_id: string;
  hostname: string;
  host: string;
  binary: string;
  topic: string;
  status: string;
  report_interval: number;
  created_at: string;
  updated_at: string | null;
}
