/**
 * Create or update a stack: template, parameters, plan, and only then the change.
 *
 * The plan has a fingerprint. The service executes the change only while that plan holds, so what
 * was shown is what happens.
 */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { json, stackPath } from "../api/client";
import { ApiError, type Finding } from "../api/errors";
import type { CreatePreview, ResourceRow, Stack, UpdatePreview, Validated } from "../api/types";
import { t } from "../i18n";
import { dropped, read as readFiles } from "../model/dropped";
import { useInterval, useRead } from "../model/hooks";
import { addedIn, changesOf, type PlannedChange } from "../model/plans";
import { environmentsIn, type Files, type Sources, sourcesOf, templatesIn } from "../model/sources";
import { visible } from "../model/text";
import { type Resource, StackTree } from "../model/tree";
import { go, stackPage } from "../router";
import { Failure, Field, Loading } from "../widgets/basics";
import { Editor } from "../widgets/editor";
import { ParameterForm } from "./parameters";
import { PlanGraph, PlanList, Quotas } from "./plan";
import { Findings } from "./template";
import { templateText } from "./template_lines";

const MAIN = "template.yaml";
const VALIDATE_MS = 400;
const WATCH_MS = 3000;

interface Plan {
  changes: PlannedChange[];
  fingerprint: string | null;
  preview: CreatePreview | UpdatePreview;
  /** Names of the resources that need a resource, by its path; for an existing stack. */
  dependants: ReadonlyMap<string, readonly string[]>;
  /** The state of the stack before the plan was made; null for a new stack. */
  state: string | null;
  body: Record<string, unknown>;
}

/** The stack that is updated; null for a new one. */
export function Launch({ stack }: { stack: { name: string; id: string } | null }): JSX.Element {
  const current = useRead(
    async (signal) => {
      if (!stack) return null;
      const path = stackPath(stack.name, stack.id);
      const [shown, text, files] = await Promise.all([
        json<{ stack: Stack }>("GET", path, { query: { resolve_outputs: false }, signal }),
        templateText(path, signal),
        json<Record<string, string>>("GET", `${path}/files`, { signal }),
      ]);
      return { stack: shown.stack, text, files };
    },
    [stack?.id],
  );
  if (current.error) {
    return (
      <main id="content" class="page">
        <Failure error={current.error} retry={current.reload} />
      </main>
    );
  }
  if (current.value === undefined) {
    return (
      <main id="content" class="page">
        <Loading />
      </main>
    );
  }
  return <LaunchForm current={current.value} />;
}

interface Current {
  stack: Stack;
  text: string;
  files: Record<string, string>;
}

function LaunchForm({ current }: { current: Current | null }): JSX.Element {
  const [name, setName] = useState(current?.stack.stack_name ?? "");
  const [files, setFiles] = useState<Files>(() => filesOf(current));
  const [main, setMain] = useState(MAIN);
  const [environments, setEnvironments] = useState<readonly string[]>([]);
  const [url, setUrl] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const [options, setOptions] = useState({
    rollback: current ? !current.stack.disable_rollback : false,
    timeout: "",
    tags: (current?.stack.tags ?? []).join(","),
  });
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const sources = useMemo(
    () => (url ? null : sourcesOf(files, main, environments)),
    [files, main, environments, url],
  );
  const validated = useValidation(sources, url);
  const findings = validated?.findings ?? [];

  const choose = (found: Files): void => {
    const templates = templatesIn(found);
    setFiles(found);
    setMain(templates[0] ?? [...found.keys()][0] ?? MAIN);
    const beside = environmentsIn(found);
    const own = `${(templates[0] ?? "").replace(/\.[^.]*$/, "")}.env.yaml`;
    setEnvironments(beside.includes(own) ? [own] : []);
    setUrl("");
    if (!current && !name && templates[0]) setName(nameFrom(templates[0]));
  };
  const body = (): Record<string, unknown> => ({
    ...(url ? { template_url: url } : { template: sources?.template, files: sources?.files }),
    ...(sources && sources.environmentFiles.length > 0
      ? { environment_files: sources.environmentFiles }
      : {}),
    parameters: values,
    ...(current ? { existing: true } : { stack_name: name }),
    disable_rollback: !options.rollback,
    ...(options.timeout ? { timeout_mins: Number(options.timeout) } : {}),
    ...(options.tags || current ? { tags: options.tags } : {}),
  });
  const makePlan = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      setPlan(await planned(current, body()));
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
  const schemas = validated?.answer?.Parameters ?? {};
  return (
    <main id="content" class="page launch">
      <h1>{current ? t("launch.update", { name: visible(name) }) : t("launch.create")}</h1>
      <div class="launch-columns">
        <section aria-label={t("launch.source")}>
          <SourcePicker
            files={files}
            main={main}
            environments={environments}
            url={url}
            onFiles={choose}
            onMain={setMain}
            onEnvironments={setEnvironments}
            onUrl={setUrl}
          />
          {!url && (
            <Editor
              key={main}
              label={t("launch.source")}
              text={files.get(main) ?? ""}
              onChange={(text) => setFiles(new Map([...files, [main, text]]))}
              findings={findings.filter((each) => each.file === null)}
            />
          )}
          {(sources?.missing ?? []).map((each) => (
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
                current={current?.stack.parameters ?? {}}
                values={values}
                onChange={setValues}
              />
            )}
            <details class="options">
              <summary>{t("launch.options")}</summary>
              <label class="check">
                <input
                  type="checkbox"
                  checked={options.rollback}
                  onChange={() => setOptions({ ...options, rollback: !options.rollback })}
                />
                {t("launch.rollback")}
              </label>
              <Field label={t("launch.timeout")}>
                <input
                  type="number"
                  min="1"
                  value={options.timeout}
                  onInput={(e) => setOptions({ ...options, timeout: e.currentTarget.value })}
                />
              </Field>
              <Field label={t("launch.tags")}>
                <input
                  value={options.tags}
                  onInput={(e) => setOptions({ ...options, tags: e.currentTarget.value })}
                />
              </Field>
            </details>
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

function filesOf(current: Current | null): Files {
  if (!current) return new Map([[MAIN, "heat_template_version: 2021-04-16\n\nresources: {}\n"]]);
  return new Map([...Object.entries(current.files), [MAIN, current.text]]);
}

function nameFrom(path: string): string {
  const stem = (path.split("/").at(-1) ?? "").replace(/\.[^.]*$/, "");
  return stem.replace(/[^a-zA-Z0-9_.-]/g, "-").replace(/^[^a-zA-Z]+/, "");
}

function PlanFailure({ error }: { error: unknown }): JSX.Element {
  const findings = error instanceof ApiError ? error.findings : [];
  return findings.length > 0 ? <Findings findings={findings} onShow={() => {}} /> : <Failure error={error} />;
}

async function planned(current: Current | null, body: Record<string, unknown>): Promise<Plan> {
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

interface Validation {
  answer: Validated | null;
  findings: readonly Finding[];
}

/** Validate a moment after the last change. Parameters of the last valid template stay. */
function useValidation(sources: Sources | null, url: string): Validation | null {
  const [state, setState] = useState<Validation | null>(null);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const body = sources
        ? { template: sources.template, files: sources.files, environment_files: sources.environmentFiles }
        : { template_url: url };
      try {
        const answer = await json<Validated>("POST", "/validate", {
          query: { with_diagnostics: true, show_nested: true },
          body,
          signal: ended.signal,
        });
        setState({ answer, findings: answer.diagnostics ?? [] });
      } catch (error) {
        if (ended.signal.aborted || !(error instanceof ApiError)) return;
        setState((before) => ({ answer: before?.answer ?? null, findings: findingsOf(error) }));
      }
    }, VALIDATE_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [sources, url]);
  return state;
}

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

interface PickerProps {
  files: Files;
  main: string;
  environments: readonly string[];
  url: string;
  onFiles: (files: Files) => void;
  onMain: (name: string) => void;
  onEnvironments: (names: readonly string[]) => void;
  onUrl: (url: string) => void;
}

function SourcePicker(props: PickerProps): JSX.Element {
  const [isOver, setOver] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const picker = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = async (files: Iterable<File>): Promise<void> => {
    try {
      const found = await readFiles(files);
      setError(null);
      if (found.size > 0) props.onFiles(found);
    } catch (refused) {
      setError(refused);
    }
  };
  useEffect(() => folder.current?.setAttribute("webkitdirectory", ""), []);
  const templates = templatesIn(props.files);
  const environments = environmentsIn(props.files);
  return (
    <fieldset
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer) void dropped(event.dataTransfer).then(take);
      }}
    >
      <legend>{t("launch.source")}</legend>
      <p>{t("launch.drop")}</p>
      <p class="buttons start">
        <button type="button" onClick={() => picker.current?.click()}>
          {t("launch.files")}
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          {t("launch.folder")}
        </button>
      </p>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t("launch.files")}
        onChange={(e) => void take(e.currentTarget.files ?? [])}
      />
      <input
        ref={folder}
        type="file"
        multiple
        hidden
        aria-label={t("launch.folder")}
        onChange={(e) => void take(e.currentTarget.files ?? [])}
      />
      {error !== null && <Failure error={error} />}
      {templates.length > 1 && !props.url && (
        <Field label={t("launch.mainFile")}>
          <select value={props.main} onChange={(e) => props.onMain(e.currentTarget.value)}>
            {templates.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
      )}
      {environments.length > 0 && !props.url && (
        <div class="environments">
          <p class="field-label">{t("launch.environments")}</p>
          {environments.map((each) => (
            <label key={each} class="check">
              <input
                type="checkbox"
                checked={props.environments.includes(each)}
                onChange={(e) =>
                  props.onEnvironments(
                    e.currentTarget.checked
                      ? [...props.environments, each]
                      : props.environments.filter((other) => other !== each),
                  )
                }
              />
              {visible(each)}
            </label>
          ))}
        </div>
      )}
      <Field label={t("launch.url")} hint={t("launch.urlHint")}>
        <input
          type="url"
          value={props.url}
          placeholder="https://"
          onInput={(e) => props.onUrl(e.currentTarget.value)}
        />
      </Field>
    </fieldset>
  );
}

interface ReviewProps {
  plan: Plan;
  current: Current | null;
  name: string;
  onEdit: () => void;
  onAgain: () => Promise<void>;
}

/** The plan, before it is executed. */
function Review({ plan, current, name, onEdit, onAgain }: ReviewProps): JSX.Element {
  const [isGraph, setGraph] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const isStale = useStale(current, plan.state);
  const wasRefused = error instanceof ApiError && error.status === 409;
  const execute = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    const body = { ...plan.body, plan_fingerprint: plan.fingerprint };
    try {
      if (current) {
        const path = stackPath(current.stack.stack_name, current.stack.id);
        await json("PATCH", path, { body });
        go(stackPage({ name, id: current.stack.id }, "timeline"));
      } else {
        const made = await json<{ stack: { id: string } }>("POST", "/stacks", { body });
        go(stackPage({ name, id: made.stack.id }, "graph"));
      }
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  const preview = plan.preview as UpdatePreview;
  return (
    <main id="content" class="page">
      <div class="page-head">
        <h1>
          {t("plan.title")}: {visible(name)}
        </h1>
        <span class="grow" />
        <button type="button" aria-pressed={isGraph} onClick={() => setGraph(!isGraph)}>
          {t(isGraph ? "plan.tree" : "plan.graph")}
        </button>
      </div>
      {isGraph ? (
        <PlanGraph changes={plan.changes} dependants={plan.dependants} />
      ) : (
        <PlanList changes={plan.changes} />
      )}
      {(preview.warnings ?? []).map((each) => (
        <p class="warning" key={each.path.join("/")}>
          {visible(`${each.path.join(" / ")}: ${each.message}`)}
        </p>
      ))}
      <Quotas quotas={preview.quotas ?? []} />
      {isStale && !wasRefused && (
        <p class="warning" role="alert">
          {t("launch.someone")}
        </p>
      )}
      {wasRefused && (
        <p class="warning" role="alert">
          {t("launch.changed")}
        </p>
      )}
      {error !== null && <Failure error={error} />}
      <p class="buttons start">
        <button type="button" onClick={onEdit}>
          {t("launch.edit")}
        </button>
        {(isStale || wasRefused) && (
          <button
            type="button"
            onClick={() => {
              setError(null);
              void onAgain();
            }}
          >
            {t("launch.again")}
          </button>
        )}
        <button type="button" class="primary" disabled={isBusy} onClick={execute}>
          {t(current ? "launch.execute" : "launch.executeCreate")}
        </button>
      </p>
    </main>
  );
}

/** Return what changes whenever the stack does. */
async function stateOf(path: string): Promise<string> {
  const { stack } = await json<{ stack: Stack }>("GET", path, { query: { resolve_outputs: false } });
  return `${stack.updated_time} ${stack.stack_status}`;
}

/** Return whether the stack has changed since the plan was made. */
function useStale(current: Current | null, state: string | null): boolean {
  const [isStale, setStale] = useState(false);
  useInterval(() => {
    if (!current) return;
    stateOf(stackPath(current.stack.stack_name, current.stack.id)).then(
      (now) => setStale(now !== state),
      () => {}, // the next read shows whether the service is back
    );
  }, WATCH_MS);
  return isStale;
}
