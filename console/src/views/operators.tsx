/** The state of the service, for its operators. */

import type { JSX } from "preact";
import { json } from "../api/client";
import { ApiError } from "../api/errors";
import type { Engine, StackRow } from "../api/types";
import { type Key, t } from "../i18n";
import { useInterval, useRead } from "../model/hooks";
import { parse, quantile, type Sample } from "../model/prometheus";
import { durationText, visible } from "../model/text";
import { stackPage } from "../router";
import { A, Empty, Failure, Loading, Status, Text, Time } from "../widgets/basics";

const REFRESH_MS = 5000;

export function Operators(): JSX.Element {
  const engines = useRead(
    async (signal) => (await json<{ services: Engine[] }>("GET", "/services", { signal })).services,
    [],
  );
  const open = useRead(openStacks, []);
  const metrics = useRead(async () => {
    const response = await fetch("/metrics", { credentials: "omit" });
    return response.ok ? parse(await response.text()) : null;
  }, []);
  useInterval(() => {
    engines.reload();
    open.reload();
    metrics.reload();
  }, REFRESH_MS);
  if (engines.error instanceof ApiError && engines.error.status === 403) {
    return (
      <main id="content" class="page">
        <Empty title={t("operators.forbidden")} />
      </main>
    );
  }
  return (
    <main id="content" class="page operators">
      <h1>{t("operators.title")}</h1>
      <section aria-label={t("operators.engines")}>
        <h2>{t("operators.engines")}</h2>
        {engines.error !== null && <Failure error={engines.error} />}
        {engines.value ? <Engines engines={engines.value} /> : <Loading />}
      </section>
      <section aria-label={t("operators.stuck")}>
        <h2>{t("operators.stuck")}</h2>
        <Open stacks={open.value ?? []} />
      </section>
      {metrics.value === null ? (
        <p class="muted">{t("operators.noMetrics")}</p>
      ) : (
        metrics.value && <Figures samples={metrics.value} />
      )}
    </main>
  );
}

/** Return stacks in progress: of all projects if the policy allows it, or else of this project. */
async function openStacks(signal: AbortSignal): Promise<StackRow[]> {
  const read = async (query: Record<string, boolean>): Promise<StackRow[]> => {
    const filter = { status: "IN_PROGRESS", limit: 200, sort_keys: "updated_time", ...query };
    return (await json<{ stacks: StackRow[] }>("GET", "/stacks", { query: filter, signal })).stacks;
  };
  try {
    return await read({ global_tenant: true });
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return read({});
    throw error;
  }
}

function Engines({ engines }: { engines: readonly Engine[] }): JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          <th>{t("operators.engine")}</th>
          <th>{t("operators.host")}</th>
          <th>{t("stacks.status")}</th>
          <th>{t("operators.seen")}</th>
        </tr>
      </thead>
      <tbody>
        {engines.map((each) => (
          <tr key={each.engine_id}>
            <td>
              <code>{visible(each.engine_id)}</code>
            </td>
            <td>{visible(each.hostname)}</td>
            <td class={each.status === "up" ? "good" : "warning"}>{each.status}</td>
            <td>
              <Time value={each.updated_at ?? each.created_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Open({ stacks }: { stacks: readonly StackRow[] }): JSX.Element {
  const since = (stack: StackRow): number => Date.parse(stack.updated_time ?? stack.creation_time);
  const sorted = [...stacks].sort((a, b) => since(a) - since(b));
  if (sorted.length === 0) return <p class="muted">{t("operators.noneStuck")}</p>;
  return (
    <ul class="plain">
      {sorted.map((each) => (
        <li key={each.id}>
          <A to={stackPage({ name: each.stack_name, id: each.id }, "timeline", each.project)}>
            {visible(each.stack_name)}
          </A>{" "}
          <span class="muted">{visible(each.project ?? "")}</span> <Status value={each.stack_status} />{" "}
          {t("timeline.runs", { time: durationText(Date.now() - since(each)) })}{" "}
          <Text value={each.stack_status_reason} />
        </li>
      ))}
    </ul>
  );
}

function Figures({ samples }: { samples: readonly Sample[] }): JSX.Element {
  const calls = samples.filter((each) => each.name === "stoker_cloud_calls_total");
  const services = [...new Set(calls.map((each) => each.labels.service ?? ""))].sort();
  const sum = (found: readonly Sample[]): number => found.reduce((total, each) => total + each.value, 0);
  const isError = (each: Sample): boolean => each.labels.status === "0" || Number(each.labels.status) >= 500;
  return (
    <>
      <section aria-label={t("operators.calls")}>
        <h2>{t("operators.calls")}</h2>
        <table>
          <thead>
            <tr>
              <th>{t("operators.service")}</th>
              <th class="number">{t("operators.count")}</th>
              <th class="number">{t("operators.errors")}</th>
              <th class="number">{t("operators.waiting")}</th>
              <th class="number">{t("operators.median")}</th>
              <th class="number">{t("operators.p99")}</th>
            </tr>
          </thead>
          <tbody>
            {services.map((service) => {
              const own = calls.filter((each) => each.labels.service === service);
              const buckets = samples.filter(
                (each) => each.name === "stoker_cloud_call_seconds_bucket" && each.labels.service === service,
              );
              return (
                <tr key={service}>
                  <td>{service}</td>
                  <td class="number">{sum(own).toLocaleString()}</td>
                  <td class="number">{sum(own.filter(isError)).toLocaleString()}</td>
                  <td class="number">{figureOf(samples, "stoker_cloud_waiting", service)}</td>
                  <td class="number">{latency(quantile(buckets, 0.5))}</td>
                  <td class="number">{latency(quantile(buckets, 0.99))}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      <Work samples={samples} />
    </>
  );
}

function latency(seconds: number | null): string {
  if (seconds === null) return "–";
  if (!Number.isFinite(seconds)) return "> 60 s";
  return seconds < 1 ? `≤ ${Math.round(seconds * 1000)} ms` : `≤ ${seconds} s`;
}

function figureOf(samples: readonly Sample[], name: string, service?: string): number {
  return samples.find((each) => each.name === name && each.labels.service === service)?.value ?? 0;
}

/** Figures of the process that answers, in words. */
function Work({ samples }: { samples: readonly Sample[] }): JSX.Element {
  const value = (name: string): number => figureOf(samples, name);
  const milliseconds = (seconds: number): string => `${(seconds * 1000).toFixed(1)} ms`;
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20).toLocaleString()} MiB`;
  const commits = value("stoker_commits_total");
  const rows: [Key, string][] = [
    ["operators.driven", value("stoker_stacks_driven").toLocaleString()],
    ["operators.due", value("stoker_stacks_due").toLocaleString()],
    ["operators.commit", milliseconds(commits ? value("stoker_commit_seconds_total") / commits : 0)],
    ["operators.database", mebibytes(value("stoker_database_bytes"))],
    ["operators.memory", mebibytes(value("process_resident_memory_bytes"))],
    ["operators.lag", milliseconds(value("stoker_event_loop_lag_seconds"))],
    ["operators.longestPause", milliseconds(value("stoker_event_loop_longest_pause_seconds"))],
  ];
  return (
    <section aria-label={t("operators.queue")}>
      <h2>{t("operators.queue")}</h2>
      <table>
        <tbody>
          {rows.map(([name, text]) => (
            <tr key={name}>
              <th scope="row">{t(name)}</th>
              <td class="number">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
