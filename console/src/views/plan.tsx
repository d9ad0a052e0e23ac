/** A plan: what is created, changed, replaced and removed, and why. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { CHANGES, type ChangeKind, type PropertyChange, type Quota, type UpdatePreview } from "../api/types";
import type { Graph } from "../graph/model";
import { type Key, t } from "../i18n";
import { changesOf, countsOf, type PlannedChange } from "../model/plans";
import type { Look } from "../model/statuses";
import { textOf, visible } from "../model/text";
import { Value } from "../widgets/basics";
import { GraphCanvasView } from "./graph";

export const CHANGE_SIGNS: Record<ChangeKind, string> = {
  added: "+",
  replaced: "±",
  updated: "~",
  deleted: "−",
  unchanged: "=",
};
const MOST_SHOWN = 500;

export function PlanTree({ changes }: { changes: UpdatePreview["resource_changes"] }): JSX.Element {
  return <PlanList changes={changesOf(changes)} />;
}

export function PlanSummary({ changes }: { changes: readonly PlannedChange[] }): JSX.Element {
  const counts = countsOf(changes);
  const parts = CHANGES.filter((kind) => counts[kind] > 0);
  return (
    <p class="plan-summary" role="status">
      {parts.map((kind) => (
        <span key={kind} class={`change ${kind}`}>
          <span class="sign" aria-hidden="true">
            {CHANGE_SIGNS[kind]}
          </span>{" "}
          {counts[kind].toLocaleString()} {t(`plan.${kind}` as Key)}
        </span>
      ))}
      {parts.length === 0 && t("launch.nothing")}
    </p>
  );
}

export function PlanList({ changes }: { changes: readonly PlannedChange[] }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const active = changes.filter((each) => each.kind !== "unchanged");
  const shown = (isWhole ? changes : active).slice(0, MOST_SHOWN);
  return (
    <div class="plan">
      <PlanSummary changes={changes} />
      <ul class="plan-list">
        {shown.map((each) => (
          <li key={`${each.kind}/${each.path.join("/")}`}>
            <ChangeLine change={each} />
          </li>
        ))}
      </ul>
      {(isWhole ? changes : active).length > MOST_SHOWN && (
        <p class="muted">+ {((isWhole ? changes : active).length - MOST_SHOWN).toLocaleString()}</p>
      )}
      {active.length < changes.length && (
        <label class="check">
          <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} />
          {t("plan.showUnchanged")}
        </label>
      )}
    </div>
  );
}

// Reasons that the rest of a line does not say already.
const REASONS: Record<string, Key> = {
  settings: "reason.settings",
  type: "reason.type",
  unhealthy: "reason.unhealthy",
  failed: "reason.failed",
  gone: "reason.gone",
  drift: "reason.drift",
  unfinished: "reason.unfinished",
  unknown: "reason.unknown",
  nested: "reason.nested",
  dependency: "reason.dependency",
  released: "reason.released",
  "not wanted": "reason.notWanted",
};

function ChangeLine({ change }: { change: PlannedChange }): JSX.Element {
  const { kind, path, resource } = change;
  const interrupted = Object.entries(resource.interruptions ?? {});
  const forced = change.isPerhaps ? resource.may_force : (resource.forced_by ?? []);
  const reason = REASONS[resource.change_reason];
  return (
    <details class={`change ${kind}`} open={kind === "replaced"}>
      <summary>
        <span class="sign" aria-hidden="true">
          {CHANGE_SIGNS[kind]}
        </span>{" "}
        <strong>{visible(path.join(" / "))}</strong>{" "}
        <span class="muted">{visible(resource.resource_type)}</span> {change.isPerhaps && t("plan.perhaps")}{" "}
        {t(`plan.${kind}` as Key)}
        {forced.length > 0 && <> {t("plan.because", { names: visible(forced.join(", ")) })}</>}
        {resource.moved_from && <> · {t("plan.moved", { name: visible(resource.moved_from) })}</>}
        {resource.imported && <> · {t("plan.imported", { id: visible(resource.imported) })}</>}
        {(kind === "replaced" || kind === "deleted") && resource.holds_data && !resource.keeps_object && (
          <span class="warning"> {t("plan.losesData")}</span>
        )}
        {resource.keeps_object && kind !== "added" && <span class="muted"> {t("plan.keepsObject")}</span>}
      </summary>
      {reason && <p class="muted">{t(reason)}</p>}
      {resource.after?.length > 0 && (
        <p class="muted">{t("plan.afterSteps", { names: visible(resource.after.join(", ")) })}</p>
      )}
      {interrupted.length > 0 && (
        <p class="warning">
          {t("plan.interrupts", {
            names: interrupted.map(([name, how]) => visible(`${name} (${how})`)).join(", "),
          })}
        </p>
      )}
      {resource.resembles && (
        <p class="notice">{t("plan.resembles", { name: visible(resource.resembles) })}</p>
      )}
      {(resource.property_changes ?? []).map((each) => (
        <PropertyLine key={each.name} change={each} />
      ))}
      {kind === "added" && <Given properties={resource.properties} />}
    </details>
  );
}

function PropertyLine({ change }: { change: PropertyChange }): JSX.Element {
  const later =
    change.known_after.length > 0
      ? t("plan.knownLater", { names: visible(change.known_after.join(", ")) })
      : "?";
  const lines = difference(textOf(change.old), textOf(change.new));
  return (
    <div class="difference">
      <strong>{visible(change.name)}</strong>
      {change.known && lines ? (
        <pre class="value diff" tabIndex={0}>
          {lines.map((line, i) => (
            <span key={i} class={line.sign === "-" ? "old" : line.sign === "+" ? "new" : undefined}>
              {`${line.sign} ${visible(line.text)}\n`}
            </span>
          ))}
        </pre>
      ) : (
        <>
          <div class="old">
            − <Value value={change.old} />
          </div>
          <div class="new">+ {change.known ? <Value value={change.new} /> : <em>{later}</em>}</div>
        </>
      )}
    </div>
  );
}

interface DiffLine {
  sign: " " | "-" | "+";
  text: string;
}

const CONTEXT_LINES = 2;
const MOST_LINES = 2000;

/** Return the lines in which two long texts differ; null for short ones. */
export function difference(before: string, after: string): DiffLine[] | null {
  const [a, b] = [before.split("\n"), after.split("\n")];
  if (a.length < 3 || b.length < 3 || a.length > MOST_LINES || b.length > MOST_LINES) return null;
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const plain = (text: string): DiffLine => ({ sign: " ", text });
  return [
    ...a.slice(Math.max(0, start - CONTEXT_LINES), start).map(plain),
    ...a.slice(start, a.length - end).map((text): DiffLine => ({ sign: "-", text })),
    ...b.slice(start, b.length - end).map((text): DiffLine => ({ sign: "+", text })),
    ...a.slice(a.length - end, a.length - end + CONTEXT_LINES).map(plain),
  ];
}

function Given({ properties }: { properties: Record<string, unknown> }): JSX.Element | null {
  const given = Object.entries(properties ?? {}).filter(([, value]) => value !== null && value !== undefined);
  if (given.length === 0) return null;
  return (
    <dl class="pairs narrow">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            <Value value={value} most={600} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function KindLegend(): JSX.Element {
  return (
    <ul class="legend" aria-label={t("graph.legend")}>
      {CHANGES.map((kind) => (
        <li key={kind} class={`change ${kind}`}>
          <span class="sign" aria-hidden="true">
            {CHANGE_SIGNS[kind]}
          </span>{" "}
          {t(`plan.${kind}` as Key)}
        </li>
      ))}
    </ul>
  );
}

const LOOKS: Record<ChangeKind, Look> = {
  added: "done",
  replaced: "failed",
  updated: "working",
  deleted: "gone",
  unchanged: "waiting",
};

interface GraphProps {
  changes: readonly PlannedChange[];
  /** Names of the resources that need a resource, by its path. */
  dependants: ReadonlyMap<string, readonly string[]>;
}

/** The same plan as a graph: each box is a resource, each arrow a dependency or an order. */
export function PlanGraph({ changes, dependants }: GraphProps): JSX.Element {
  const [selected, select] = useState<string | null>(null);
  const graph = useMemo(() => graphOf(changes, dependants), [changes]);
  const chosen = changes.find((each) => each.path.join("/") === selected);
  return (
    <>
      <GraphCanvasView
        graph={graph}
        selected={selected}
        onSelect={select}
        onToggle={() => {}}
        legend={<KindLegend />}
      />
      {chosen && <ChangeLine change={chosen} />}
    </>
  );
}

function graphOf(changes: readonly PlannedChange[], dependants: GraphProps["dependants"]): Graph {
  const index = new Map(changes.map((each, i) => [each.path.join("/"), i]));
  const boxes = changes.map(({ kind, path, resource }) => ({
    key: path.join("/"),
    label: `${CHANGE_SIGNS[kind]} ${path.join(" / ")}`,
    type: resource.resource_type,
    look: LOOKS[kind],
    status: t(`plan.${kind}` as Key),
    reason: resource.forced_by?.join(", ") ?? "",
    inside: null,
    isOpen: false,
    within: null,
  }));
  const arrows: [number, number][] = [];
  const arrow = (from: number | undefined, to: number | undefined): void => {
    if (from !== undefined && to !== undefined) arrows.push([from, to]);
  };
  changes.forEach(({ path, resource }, at) => {
    const beside = (name: string): number | undefined => index.get([...path.slice(0, -1), name].join("/"));
    // A preview of an update has no dependencies: those of the existing stack are known.
    const known = resource.required_by?.length ? resource.required_by : dependants.get(path.join("/"));
    for (const name of known ?? []) arrow(at, beside(name));
    if (!known) for (const name of resource.after ?? []) arrow(beside(name), at);
  });
  return { boxes, arrows };
}

export function Quotas({ quotas }: { quotas: readonly Quota[] }): JSX.Element | null {
  const wanted = quotas.filter((each) => each.requested !== 0);
  if (wanted.length === 0) return null;
  return (
    <section aria-label={t("plan.quotas")}>
      <h3>{t("plan.quotas")}</h3>
      <ul class="quotas">
        {wanted.map((each) => (
          <li
            key={`${each.service} ${each.name}`}
            class={each.allowed !== null && each.used + each.requested > each.allowed ? "warning" : undefined}
          >
            {t("plan.quota", {
              name: `${each.service} ${each.name}`,
              used: each.used,
              requested: each.requested,
              allowed: each.allowed ?? "∞",
            })}
          </li>
        ))}
      </ul>
    </section>
  );
}
