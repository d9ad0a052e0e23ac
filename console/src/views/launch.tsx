/**
 * Create or update a stack: template, parameters, plan, and only then the change.
 *
 * The plan has a fingerprint. The service executes the change only while that plan holds, so the
 * change is the one that was shown.
 */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { json, stackPath } from "../api/client";
import { ApiError, type Finding } from "../api/errors";
import type { Stack, Validated } from "../api/types";
import { t } from "../i18n";
import { useRead } from "../model/hooks";
import { type Current, type Plan, planned } from "../model/launching";
import { type Entries, fieldsOf } from "../model/parameter_entries";
import { type Documents, documentsOf, EMPTY, type Source, textOf, withText } from "../model/source_choice";
import { visible } from "../model/text";
import { Failure, Field, Loading } from "../widgets/basics";
import { Editor } from "../widgets/editor";
import { ParameterForm } from "./parameters";
import { Review } from "./review";
import { SourcePicker } from "./source_picker";
import { Findings } from "./template";
import { templateText } from "./template_lines";

const VALIDATE_MS = 400;
const HIDDEN = "******"; // in place of hidden values
// The form asks for parameters without a value itself.
const MISSING_PARAMETER = "missing-parameter";

/** `stack` is the one that is updated; null for a new one. */
export function Launch({ stack }: { stack: { name: string; id: string } | null }): JSX.Element {
  const current = useRead(async (signal) => (stack ? readCurrent(stack, signal) : null), [stack?.id]);
  if (current.value !== undefined) return <LaunchForm current={current.value} />;
  return (
    <main id="content" class="page">
      {current.error ? <Failure error={current.error} retry={current.reload} /> : <Loading />}
    </main>
  );
}

async function readCurrent(stack: { name: string; id: string }, signal: AbortSignal): Promise<Current> {
  const path = stackPath(stack.name, stack.id);
  const [shown, text, files, environment] = await Promise.all([
    json<{ stack: Stack }>("GET", path, { query: { resolve_outputs: false }, signal }),
    templateText(path, signal),
    json<Record<string, string>>("GET", `${path}/files`, { signal }),
    json<Record<string, unknown>>("GET", `${path}/environment`, { signal }),
  ]);
  return { stack: shown.stack, text, files, environment };
}

interface Options {
  rollback: boolean;
  timeout: string;
  tags: string;
}

function LaunchForm({ current }: { current: Current | null }): JSX.Element {
  const initial = useMemo((): Source => {
    return current ? { kind: "stored", text: current.text, files: current.files, isEdited: false } : EMPTY;
  }, [current]);
  const [name, setName] = useState(current?.stack.stack_name ?? "");
  const [source, setSource] = useState(initial);
  const [entries, setEntries] = useState<Entries>({});
  const [options, setOptions] = useState<Options>({
    rollback: current ? !current.stack.disable_rollback : false,
    timeout: "",
    tags: (current?.stack.tags ?? []).join(","),
  });
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const { documents, missing } = useMemo(() => documentsOf(source), [source]);
  const validated = useValidation(documents, current, entries);
  const findings = validated?.findings ?? [];
  const schemas = validated?.answer?.Parameters ?? {};

  const change = (next: Source): void => {
    setSource(next);
    setError(null);
    if (!current && !name && next.kind === "chosen" && next !== EMPTY) setName(nameFrom(next.main));
  };
  const makePlan = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    // The template of a stack stays the one of the service, unless the user has changed it.
    const isKept = source.kind === "stored" && !source.isEdited;
    const body = {
      ...(isKept ? {} : documents),
      ...fieldsOf(entries, schemas),
      ...(current ? { existing: true } : { stack_name: name }),
      disable_rollback: !options.rollback,
      ...(options.timeout ? { timeout_mins: Number(options.timeout) } : {}),
      ...(options.tags || current ? { tags: options.tags } : {}),
    };
    try {
      setPlan(await planned(current, body));
    } catch (refused) {
      setError(refused);
      setPlan(null);
    }
    setBusy(false);
  };
  if (plan) {
    return (
      <Review plan={plan} current={current} name={name} onEdit={() => setPlan(null)} onAgain={makePlan} />
    );
  }
  return (
    <main id="content" class="page launch">
      <h1>{current ? t("launch.update", { name: visible(name) }) : t("launch.create")}</h1>
      <div class="launch-columns">
        <section aria-label={t("launch.source")}>
          <SourcePicker source={source} initial={initial} onChange={change} />
          {source.kind !== "url" && (
            <Editor
              key={source.kind === "chosen" ? source.main : source.kind}
              label={t("launch.source")}
              text={textOf(source)}
              onChange={(text) => change(withText(source, text))}
              findings={findings.filter((each) => each.file === null)}
            />
          )}
          {missing.map((each) => (
            <p key={each} class="warning">
              {t("launch.missingFile", { name: visible(each) })}
            </p>
          ))}
          <Findings findings={findings} onShow={() => {}} />
        </section>
        <section aria-label={t("launch.parameters")}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void makePlan();
            }}
          >
            {!current && (
              <Field label={t("launch.name")}>
                <input
                  value={name}
                  required
                  maxLength={255}
                  pattern="[a-zA-Z][a-zA-Z0-9_.\-]*"
                  autoComplete="off"
                  onInput={(e) => setName(e.currentTarget.value)}
                />
              </Field>
            )}
            <h2>{t("launch.parameters")}</h2>
            {Object.keys(schemas).length === 0 ? (
              <p class="muted">{t("launch.noParameters")}</p>
            ) : (
              <ParameterForm
                schemas={schemas}
                groups={validated?.answer?.ParameterGroups ?? []}
                current={current?.stack.parameters ?? null}
                entries={entries}
                onChange={setEntries}
              />
            )}
            <OptionFields options={options} onChange={setOptions} />
            {error !== null && <PlanFailure error={error} />}
            <p class="buttons start">
              <button type="submit" class="primary" disabled={isBusy}>
                {t(isBusy ? "launch.planning" : "launch.plan")}
              </button>
            </p>
          </form>
        </section>
      </div>
    </main>
  );
}

interface OptionProps {
  options: Options;
  onChange: (options: Options) => void;
}

function OptionFields({ options, onChange }: OptionProps): JSX.Element {
  return (
    <details class="options">
      <summary>{t("launch.options")}</summary>
      <label class="check">
        <input
          type="checkbox"
          checked={options.rollback}
          onChange={() => onChange({ ...options, rollback: !options.rollback })}
        />
        {t("launch.rollback")}
      </label>
      <Field label={t("launch.timeout")}>
        <input
          type="number"
          min="1"
          value={options.timeout}
          onInput={(e) => onChange({ ...options, timeout: e.currentTarget.value })}
        />
      </Field>
      <Field label={t("launch.tags")}>
        <input value={options.tags} onInput={(e) => onChange({ ...options, tags: e.currentTarget.value })} />
      </Field>
    </details>
  );
}

function nameFrom(path: string): string {
  const stem = (path.split("/").at(-1) ?? "").replace(/\.[^.]*$/, "");
  return stem.replace(/[^a-zA-Z0-9_.-]/g, "-").replace(/^[^a-zA-Z]+/, "");
}

function PlanFailure({ error }: { error: unknown }): JSX.Element {
  const findings = error instanceof ApiError ? error.findings : [];
  return findings.length > 0 ? <Findings findings={findings} onShow={() => {}} /> : <Failure error={error} />;
}

interface Validation {
  answer: Validated | null;
  findings: readonly Finding[];
}

/** Validate a moment after the last change. Parameters of the last valid template stay. */
function useValidation(documents: Documents, current: Current | null, entries: Entries): Validation | null {
  const [state, setState] = useState<Validation | null>(null);
  useEffect(() => {
    const ended = new AbortController();
    const validate = async (): Promise<void> => {
      const body = { ...documents, ...contextOf(documents, current, entries) };
      const query = { with_diagnostics: true, show_nested: true };
      try {
        const answer = await json<Validated>("POST", "/validate", { query, body, signal: ended.signal });
        setState({ answer, findings: (answer.diagnostics ?? []).filter(isOfTemplate) });
      } catch (error) {
        if (ended.signal.aborted || !(error instanceof ApiError)) return;
        const findings = findingsOf(error);
        setState((before) => ({ answer: before?.answer ?? null, findings }));
      }
    };
    const timer = setTimeout(() => void validate(), VALIDATE_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [documents, current, entries]);
  return state;
}

/** Return the values with which a template is validated: those of the stack, and those of the user. */
function contextOf(documents: Documents, current: Current | null, entries: Entries): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(current?.stack.parameters ?? {})) {
    if (!name.includes("::") && value !== HIDDEN) given[name] = value;
  }
  for (const [name, entry] of Object.entries(entries)) {
    if (entry.kind === "value") given[name] = entry.text;
    else delete given[name];
  }
  if (documents.environment_files || !current) return { parameters: given };
  return { parameters: given, environment: { ...current.environment, parameters: {} } };
}

const isOfTemplate = (finding: Finding): boolean => finding.code !== MISSING_PARAMETER;

function findingsOf(error: ApiError): readonly Finding[] {
  if (error.findings.length > 0) return error.findings;
  const finding = {
    severity: "error",
    code: "",
    path: "",
    file: null,
    line: null,
    column: null,
    suggestion: null,
  };
  return [{ ...finding, message: error.message }];
}
