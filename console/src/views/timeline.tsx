/** Operations of a stack as bars, one for each action on a resource. */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { t } from "../i18n";
import { lookOf } from "../model/statuses";
import { durationText, visible } from "../model/text";
import { type Bar, criticalPath, type Operation, operationsOf, slower } from "../model/timeline";
import { address, setQuery } from "../router";
import { Empty, SIGNS, Status, Text, Time } from "../widgets/basics";
import { type Column, Table } from "../widgets/table";
import type { ViewProps } from "./stack";

/** Differences below are noise. */
const NOTEWORTHY_MS = 500;

export function TimelineView({ live }: ViewProps): JSX.Element {
  const events = live.events.value;
  const operations = useMemo(() => operationsOf(events, live.address.id), [events]);
  const query = address.value.query;
  useEffect(() => void live.readOperations(2), [live]);
  const wanted = Number(query.get("operation") ?? operations.length - 1);
  const operation = operations[wanted] ?? operations.at(-1);
  const now = useNow(operation?.end === undefined);
  const critical = useMemo(
    () => new Set(operation ? criticalPath(operation, live.tree, now) : []),
    [operation, live.version.value, now],
  );
  if (!operation) return <Empty title={t("timeline.empty")} />;
  const onlyCritical = query.get("critical") === "1";
  const earlier = operations
    .slice(0, operations.indexOf(operation))
    .findLast((each) => each.action === operation.action);
  const isCompared = query.get("compare") === "1" && earlier !== undefined;
  const differences = isCompared && earlier ? slower(operation, earlier) : new Map<string, number>();
  const bars = operation.bars
    .filter((bar) => !onlyCritical || critical.has(bar.key))
    .sort((a, b) => a.start - b.start);
  return (
    <div class="timeline">
      <div class="toolbar">
        <label>
          {t("timeline.operation")}{" "}
          <select
            value={String(operations.indexOf(operation))}
            onChange={(e) => setQuery({ operation: e.currentTarget.value })}
          >
            {operations.map((each, i) => (
              <option key={`${each.action}${each.start}`} value={String(i)}>
                {each.action} {new Date(each.start).toLocaleString()}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={onlyCritical}
            onChange={() => setQuery({ critical: onlyCritical ? null : "1" })}
          />
          {t("timeline.critical")}
        </label>
        {earlier && (
          <label class="check">
            <input
              type="checkbox"
              checked={isCompared}
              onChange={() => setQuery({ compare: isCompared ? null : "1" })}
            />
            {t("timeline.compare")}
          </label>
        )}
        <span class="grow" />
        <Summary operation={operation} earlier={isCompared ? earlier : undefined} now={now} />
      </div>
      <Bars
        live={live}
        operation={operation}
        bars={bars}
        critical={critical}
        differences={differences}
        now={now}
        selected={query.get("resource")}
      />
    </div>
  );
}

/** Return the time, which moves while something is under way. */
function useNow(isMoving: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isMoving]);
  return now;
}

interface SummaryProps {
  operation: Operation;
  earlier: Operation | undefined;
  now: number;
}

function Summary({ operation, earlier, now }: SummaryProps): JSX.Element {
  const took = (operation.end ?? now) - operation.start;
  const before = earlier?.end === undefined ? null : earlier.end - earlier.start;
  const status = { working: "IN_PROGRESS", done: "COMPLETE", failed: "FAILED" }[operation.outcome];
  return (
    <span>
      <Status value={`${operation.action}_${status}`} />{" "}
      {t(operation.end === undefined ? "timeline.runs" : "timeline.took", { time: durationText(took) })}
      {before !== null && <> · {difference(took - before)}</>}
    </span>
  );
}

function difference(ms: number): string {
  return t(ms > 0 ? "timeline.slower" : "timeline.faster", { time: durationText(Math.abs(ms)) });
}

interface BarsProps extends ViewProps {
  operation: Operation;
  bars: readonly Bar[];
  critical: ReadonlySet<string>;
  differences: ReadonlyMap<string, number>;
  now: number;
  selected: string | null;
}

function Bars({ live, operation, bars, critical, differences, now, selected }: BarsProps): JSX.Element {
  const start = operation.start;
  const depthOf = (bar: Bar): number => {
    const resource = live.tree.resources.get(bar.key);
    return resource ? live.tree.path(resource).length - 1 : 0;
  };
  const span = Math.max(1, (operation.end ?? now) - start);
  const columns: Column<Bar>[] = [
    {
      title: t("timeline.resource"),
      width: "minmax(10rem, 20rem)",
      cell: (bar) => (
        <span
          class={critical.has(bar.key) ? "critical" : undefined}
          style={{ paddingLeft: `${depthOf(bar)}rem` }}
        >
          {visible(bar.name)} <span class="muted">{bar.action}</span>
        </span>
      ),
    },
    {
      title: ticks(span),
      width: "minmax(12rem, 1fr)",
      cell: (bar) => (
        <BarLine bar={bar} start={start} span={span} now={now} isCritical={critical.has(bar.key)} />
      ),
    },
    {
      title: t("timeline.took", { time: "" }),
      width: "11rem",
      cell: (bar) => {
        const differs = differences.get(bar.key) ?? 0;
        return (
          <>
            {durationText((bar.end ?? now) - bar.start)}
            {Math.abs(differs) >= NOTEWORTHY_MS && <span class="muted"> {difference(differs)}</span>}
          </>
        );
      },
    },
  ];
  return (
    <Table
      label={t("stack.timeline")}
      rows={bars}
      columns={columns}
      keyOf={(bar) => `${bar.key} ${bar.action} ${bar.start}`}
      rowHeight={28}
      selected={bars.find((bar) => bar.key === selected) ? keyOfBar(bars, selected) : null}
      onSelect={(bar) => setQuery({ resource: bar.key })}
    />
  );
}

function keyOfBar(bars: readonly Bar[], selected: string | null): string | null {
  const bar = bars.find((each) => each.key === selected);
  return bar ? `${bar.key} ${bar.action} ${bar.start}` : null;
}

function ticks(span: number): string {
  return `0 – ${durationText(span)}`;
}

interface BarLineProps {
  bar: Bar;
  start: number;
  span: number;
  now: number;
  isCritical: boolean;
}

function BarLine({ bar, start, span, now, isCritical }: BarLineProps): JSX.Element {
  const left = (100 * (bar.start - start)) / span;
  const width = (100 * ((bar.end ?? now) - bar.start)) / span;
  const look =
    bar.outcome === "working" ? "working" : bar.outcome === "failed" ? "failed" : lookOf("CREATE_COMPLETE");
  const title = [
    bar.reason,
    ...bar.notes.map((note) => `${new Date(note.at).toLocaleTimeString()} ${note.text}`),
  ]
    .filter(Boolean)
    .join("\n");
  return (
    <span class="bar-track" title={visible(title).slice(0, 2000)}>
      <span
        class={`bar ${look}${isCritical ? " critical" : ""}`}
        style={{ left: `${left.toFixed(3)}%`, width: `max(3px, ${width.toFixed(3)}%)` }}
      >
        <span class="sign" aria-hidden="true">
          {SIGNS[look]}
        </span>
      </span>
      {bar.notes.map((note) => (
        <span
          class="note"
          key={`${note.at} ${note.text}`}
          style={{ left: `${((100 * (note.at - start)) / span).toFixed(3)}%` }}
        />
      ))}
      <span class="hidden">
        {bar.outcome} {bar.reason} <Time value={bar.start} /> {bar.notes.length > 0 && <Text value={title} />}
      </span>
    </span>
  );
}
