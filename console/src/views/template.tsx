/** The template of a stack as its user wrote it, with its files and findings. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { json } from "../api/client";
import { ApiError, type Finding } from "../api/errors";
import type { Validated } from "../api/types";
import { t } from "../i18n";
import { useRead } from "../model/hooks";
import { textOf, visible } from "../model/text";
import { keyOf } from "../model/tree";
import { address, setQuery } from "../router";
import { Failure, Loading } from "../widgets/basics";
import { Editor } from "../widgets/editor";
import type { ViewProps } from "./stack";
import { lineOf, templateText } from "./template_lines";

export function TemplateView({ live }: ViewProps): JSX.Element {
  const read = useRead(
    async (signal) => {
      const [text, files, environment] = await Promise.all([
        templateText(live.path, signal),
        json<Record<string, string>>("GET", `${live.path}/files`, { signal }),
        json<Record<string, unknown>>("GET", `${live.path}/environment`, { signal }),
      ]);
      return { text, files, environment };
    },
    [live.path, live.stack.value?.updated_time],
  );
  const findings = useRead(
    async (signal): Promise<readonly Finding[]> =>
      read.value ? findingsOf(read.value.text, read.value, signal) : [],
    [read.value],
  );
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  return <Documents live={live} {...read.value} findings={findings.value ?? []} />;
}

async function findingsOf(
  template: string,
  { files, environment }: { files: Record<string, string>; environment: Record<string, unknown> },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  try {
    const body = { template, files, environment };
    const found = await json<Validated>("POST", "/validate", {
      query: { with_diagnostics: true },
      body,
      signal,
    });
    return found.diagnostics ?? [];
  } catch (error) {
    if (error instanceof ApiError) return error.findings;
    throw error;
  }
}

interface DocumentsProps extends ViewProps {
  text: string;
  files: Record<string, string>;
  environment: Record<string, unknown>;
  findings: readonly Finding[];
}

const TEMPLATE = "";
const ENVIRONMENT = "\u0000environment";

function Documents({ live, text, files, environment, findings }: DocumentsProps): JSX.Element {
  const query = address.value.query;
  const file = query.get("file") ?? TEMPLATE;
  const line = Number(query.get("line")) || null;
  const shown =
    file === TEMPLATE ? text : file === ENVIRONMENT ? textOf(environment) : textOf(files[file] ?? "");
  const ofFile = useMemo(() => findings.filter((each) => (each.file ?? TEMPLATE) === file), [findings, file]);
  const names = live.tree.of(live.address.id).map((each) => each.name);
  const isTemplate = file === TEMPLATE;
  return (
    <div class="documents">
      <div class="toolbar">
        <label>
          {t("template.file")}{" "}
          <select
            value={file}
            onChange={(e) => setQuery({ file: e.currentTarget.value || null, line: null })}
          >
            <option value={TEMPLATE}>{t("template.main")}</option>
            <option value={ENVIRONMENT}>{t("template.environment")}</option>
            {Object.keys(files).map((name) => (
              <option key={name} value={name}>
                {visible(name)}
              </option>
            ))}
          </select>
        </label>
        {isTemplate && (
          <label>
            {t("events.resource")}{" "}
            <select
              value=""
              onChange={(e) => {
                const name = e.currentTarget.value;
                const at = lineOf(text, name);
                setQuery({ line: at ? String(at) : null, resource: keyOf(live.address.id, name) });
              }}
            >
              <option value="">–</option>
              {names.map((name) => (
                <option key={name} value={name}>
                  {visible(name)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <Findings findings={findings} />
      <Editor key={file} label={t("template.main")} text={shown} findings={ofFile} line={line} />
    </div>
  );
}

/** Findings as a list; a click goes to the line. */
export function Findings({
  findings,
  onShow,
}: {
  findings: readonly Finding[];
  onShow?: (finding: Finding) => void;
}): JSX.Element | null {
  if (findings.length === 0) return null;
  const show =
    onShow ??
    ((each: Finding) => setQuery({ file: each.file, line: each.line === null ? null : String(each.line) }));
  return (
    <section aria-label={t("template.findings")}>
      <ul class="findings">
        {findings.map((each) => (
          <li key={`${each.file}${each.line}${each.path}${each.code}`} class={each.severity}>
            <button type="button" class="link" onClick={() => show(each)}>
              {visible(each.file ?? t("template.main"))}
              {each.line !== null && `:${each.line}`}
            </button>{" "}
            {visible(each.message)}
            {each.suggestion && <span class="muted"> {visible(each.suggestion)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
