/**
 * Files that a user chose, as the body of a request.
 *
 * The API finds a file by the name that a template uses for it. Templates refer to files relative
 * to themselves, so names in nested templates and environments are made relative to the main
 * template, as the command-line clients do.
 */

import { parseDocument, type Scalar, visit } from "yaml";

export type Files = ReadonlyMap<string, string>;

export interface Sources {
  template: string;
  files: Record<string, string>;
  environmentFiles: string[];
  /** References to files that are not there. */
  missing: string[];
}

const TEMPLATE =
  /^\s*["']?(heat_template_version|HeatTemplateFormatVersion|AWSTemplateFormatVersion)["']?\s*:/m;
const ENVIRONMENT =
  /^\s*["']?(parameters|parameter_defaults|resource_registry|encrypted_param_names|event_sinks|parameter_merge_strategies)["']?\s*:/m;
const TEXT = /\.(ya?ml|json|template)$/i;

export const isTemplate = (text: string): boolean => TEMPLATE.test(text);

/** Return the names of templates, the likeliest main template first. */
export function templatesIn(files: Files): string[] {
  const names = [...files]
    .filter(([name, text]) => TEXT.test(name) && isTemplate(text))
    .map(([name]) => name);
  const used = new Set(
    names.flatMap((name) => references(name, files.get(name) ?? "").map((each) => each.target)),
  );
  const rank = (name: string): number => (used.has(name) ? 1000 : 0) + name.split("/").length;
  return names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** Return the names of files that can be environments. */
export function environmentsIn(files: Files): string[] {
  return [...files]
    .filter(([name, text]) => TEXT.test(name) && !isTemplate(text) && ENVIRONMENT.test(text))
    .map(([name]) => name)
    .sort();
}

/** Return the request's parts for a main template and environments among files. */
export function sourcesOf(files: Files, main: string, environments: readonly string[]): Sources {
  const base = directory(main);
  const result: Sources = { template: "", files: {}, environmentFiles: [], missing: [] };
  const add = (name: string): string => {
    const key = relative(name, base);
    if (key in result.files) return key;
    const text = files.get(name) ?? "";
    result.files[key] = text; // before its own references: they may be circular
    result.files[key] = isTemplate(text) || environments.includes(name) ? rewritten(name, text) : text;
    return key;
  };
  const rewritten = (name: string, text: string): string => {
    const changes: { range: [number, number]; text: string }[] = [];
    for (const each of references(name, text)) {
      if (!files.has(each.target)) {
        if (each.isCertain) result.missing.push(each.written);
        continue;
      }
      const key = add(each.target);
      if (key !== each.written) changes.push({ range: each.range, text: JSON.stringify(key) });
    }
    return changes
      .sort((a, b) => b.range[0] - a.range[0])
      .reduce(
        (all, change) => all.slice(0, change.range[0]) + change.text + all.slice(change.range[1]),
        text,
      );
  };
  result.template = rewritten(main, files.get(main) ?? "");
  result.environmentFiles = environments.map(add);
  result.missing = [...new Set(result.missing)];
  return result;
}

interface Reference {
  written: string;
  target: string;
  range: [number, number];
  /** Whether it can only be a file: a type may also be one that the service knows. */
  isCertain: boolean;
}

const MOST_KEPT = 100;
const kept = new Map<string, Reference[]>();

/** Return the files that a document refers to by get_file, a type, or a resource registry. */
function references(name: string, text: string): Reference[] {
  if (!TEXT.test(name)) return [];
  // Parsing a large document takes longer than a key stroke may.
  const key = `${name}\n${text}`;
  let found = kept.get(key);
  if (!found) {
    found = parsedReferences(name, text);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, found);
  }
  return found;
}

function parsedReferences(name: string, text: string): Reference[] {
  const found: Reference[] = [];
  const take = (node: unknown, isCertain: boolean): void => {
    const scalar = node as Scalar | null;
    if (!scalar || typeof scalar.value !== "string" || !scalar.range) return;
    const written = scalar.value;
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written) || (!isCertain && !TEXT.test(written))) return;
    const [start, end] = scalar.range;
    found.push({ written, target: joined(directory(name), written), range: [start, end], isCertain });
  };
  visit(parseDocument(text, { logLevel: "silent", customTags: [] }), {
    Pair(_, pair) {
      const key = (pair.key as Scalar | null)?.value;
      if (key === "get_file") take(pair.value, true);
      else if (key === "type") take(pair.value, false);
      else if (key === "resource_registry") {
        visit(pair.value as never, { Scalar: (at, node) => (at === "key" ? undefined : take(node, false)) });
      }
    },
  });
  return found;
}

function directory(name: string): string {
  const slash = name.lastIndexOf("/");
  return slash < 0 ? "" : name.slice(0, slash);
}

/** Return a path without "." and "..", as far as there is something above. */
export function joined(base: string, name: string): string {
  const parts: string[] = [];
  for (const part of [...(base ? base.split("/") : []), ...name.split("/")]) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}

function relative(name: string, base: string): string {
  const [to, from] = [name.split("/"), base ? base.split("/") : []];
  let same = 0;
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same++;
  return [...from.slice(same).map(() => ".."), ...to.slice(same)].join("/");
}
