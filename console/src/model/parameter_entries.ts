/** What a user entered for parameters. A parameter without an entry keeps its value or default. */

import type { ParameterSchema } from "../api/types";

export type Entry = { kind: "value"; text: string } | { kind: "default" };
export type Entries = Readonly<Record<string, Entry>>;

/** Return entries with another one; null removes it. */
export function withEntry(entries: Entries, name: string, entry: Entry | null): Entries {
  const next = { ...entries };
  if (entry) next[name] = entry;
  else delete next[name];
  return next;
}

/** Return the fields of a request. Entries of parameters that the template does not have are left out. */
export function fieldsOf(
  entries: Entries,
  schemas: Record<string, ParameterSchema>,
): { parameters: Record<string, string>; clear_parameters?: string[] } {
  const parameters: Record<string, string> = {};
  const cleared: string[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    if (!(name in schemas)) continue;
    if (entry.kind === "value") parameters[name] = entry.text;
    else cleared.push(name);
  }
  return cleared.length > 0 ? { parameters, clear_parameters: cleared } : { parameters };
}
