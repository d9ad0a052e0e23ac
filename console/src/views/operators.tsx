/** The state of the service, for its operators. */

import type { JSX } from "preact";
import { json } from "../api/client";
import { ApiError } from "../api/errors";
import type { Engine, StackRow } from "../api/types";
import { t } from "../i18n";
import { useInterval, useRead } from "../model/hooks";
import { parse, quantile, type Sample } from "../model/prometheus";
import { durationText, visible } from "../model/text";
import { A, Empty, Failure, Loading, Status, Text, Time } from "../widgets/basics";

const REFRESH_MS = 5000;

export function Operators(): JSX.Element {
  const engines = useRead(
    async (signal) => (await json<{ services: Engine[] }>("GET", "/services", { signal })).services,
    [],
  );
  const open = useRead(
    async (signal) =>
      (
        await json<{ stacks: StackRow[] }>("GET", "/stacks", {
          query: { status: "IN_PROGRESS", global_tenant: true, limit: 200, sort_keys: "updated_time" },
          signal,
        })
      ).stacks,
    [],
  );
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
          <A to={`/stacks/${encodeURIComponent(each.stack_name)}/${each.id}/timeline`}>
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
  const work = samples.filter((each) => /^stoker_(queue|work|operations_open|waiting|turns)/.test(each.name));
  const pauses = samples.filter((each) => /pause/.test(each.name) && !/_bucket$/.test(each.name));
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
                  <td class="number">{latency(quantile(buckets, 0.5))}</td>
                  <td class="number">{latency(quantile(buckets, 0.99))}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      <Plain title={t("operators.queue")} samples={work} />
      <Plain title={t("operators.pauses")} samples={pauses} />
    </>
  );
}

function latency(seconds: number | null): string {
  if (seconds === null) return "–";
  return Number.isFinite(seconds) ? `≤ ${durationText(seconds * 1000)}` : "> 60 s";
}

function Plain({ title, samples }: { title: string; samples: readonly Sample[] }): JSX.Element | null {
  if (samples.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <table>
        <tbody>
          {samples.map((each) => (
            <tr key={each.name + JSON.stringify(each.labels)}>
              <td>
                <code>{each.name}</code> {Object.values(each.labels).join(", ")}
              </td>
              <td class="number">{each.value.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
