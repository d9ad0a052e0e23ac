/** Where the template of a create or an update comes from. */

import { environmentsIn, type Files, type Sources, sourcesOf, templatesIn } from "./sources";

export type Source =
  | { kind: "url"; url: string }
  /** The present template of a stack, perhaps edited, with its files under the names it uses. */
  | { kind: "stored"; text: string; files: Record<string, string>; isEdited: boolean }
  /** Files of the user; names in them are relative to their folders. */
  | { kind: "chosen"; files: Files; main: string; environments: readonly string[] };

const NEW = "template.yaml";

/** The source of a new stack, before anything was chosen. */
export const EMPTY: Source = {
  kind: "chosen",
  files: new Map([[NEW, "heat_template_version: 2021-04-16\n\nresources: {}\n"]]),
  main: NEW,
  environments: [],
};

/** Return the text of the main template. */
export function textOf(source: Source): string {
  if (source.kind === "stored") return source.text;
  return source.kind === "chosen" ? (source.files.get(source.main) ?? "") : "";
}

/** Return a source whose main template has another text. */
export function withText(source: Source, text: string): Source {
  if (source.kind === "stored") return { ...source, text, isEdited: true };
  if (source.kind === "url") return source;
  return { ...source, files: new Map([...source.files, [source.main, text]]) };
}

/**
 * Return a source with files of the user. Files without a template are added to those that were
 * chosen before; files with one replace them.
 */
export function withFiles(source: Source, found: Files): Source {
  const templates = templatesIn(found);
  if (templates.length === 0 && source.kind === "chosen") {
    const files = new Map([...source.files, ...found]);
    return { ...source, files, environments: [...source.environments, ...environmentsIn(found)] };
  }
  const main = templates[0] ?? [...found.keys()][0] ?? NEW;
  const own = `${main.replace(/\.[^.]*$/, "")}.env.yaml`;
  return {
    kind: "chosen",
    files: found,
    main,
    environments: environmentsIn(found).filter((each) => each === own),
  };
}

export interface Documents {
  template?: string;
  template_url?: string;
  files?: Record<string, string>;
  environment_files?: string[];
}

/** Return the source as fields of a request, and the names of files that are not there. */
export function documentsOf(source: Source): { documents: Documents; missing: readonly string[] } {
  if (source.kind === "url") return { documents: { template_url: source.url }, missing: [] };
  if (source.kind === "stored") {
    return { documents: { template: source.text, files: source.files }, missing: [] };
  }
  const found: Sources = sourcesOf(source.files, source.main, source.environments);
  const documents: Documents = { template: found.template, files: found.files };
  if (found.environmentFiles.length > 0) documents.environment_files = found.environmentFiles;
  return { documents, missing: found.missing };
}
