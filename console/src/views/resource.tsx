/** The panel of one resource: what it is, why it is so, and what can be done with it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { json, stackPath } from "../api/client";
import { session } from "../api/session";
import type { DriftedResource, EventRow, ResourceRow, Why } from "../api/types";
import { type Key, t } from "../i18n";
import { useRead } from "../model/hooks";
import type { LiveStack } from "../model/live";
import { shortened, textOf, visible, withoutNulls } from "../model/text";
import type { Resource } from "../model/tree";
import { setQuery, stackPage } from "../router";
import { A, Copy, Empty, Failure, Loading, Status, Text, Time, Value } from "../widgets/basics";
import { Confirm } from "../widgets/dialog";
import { CauseLine } from "./causes";
import { definitionLine } from "./template_lines";

const TABS = ["why", "properties", "attributes", "metadata", "events", "console"] as const;
type Tab = (typeof TABS)[number];

interface PanelProps {
  live: LiveStack;
  id: string;
  onClose: () => void;
}

export function ResourcePanel({ live, id, onClose }: PanelProps): JSX.Element {
  live.version.value; // the tree is changed in place
  const resource = live.tree.resources.get(id);
  const [tab, setTab] = useState<Tab>("why");
  if (!resource) {
    return (
      <aside class="panel" aria-label={t("events.resource")}>
        <Close onClose={onClose} />
        <Empty title={t("resource.gone")} />
      </aside>
    );
  }
  const tabs = TABS.filter((each) => each !== "console" || resource.type === "OS::Nova::Server");
  return (
    <aside class="panel" aria-label={`${t("events.resource")} ${visible(resource.name)}`}>
      <Close onClose={onClose} />
      <h2>{visible(resource.name)}</h2>
      <p class="muted">{visible(resource.type)}</p>
      <p>
        <Status value={resource.status} /> <Time value={resource.updated} />
      </p>
      {resource.reason && resource.reason !== "state changed" && (
        <p class={resource.status.endsWith("FAILED") ? "reason" : undefined}>
          <Text value={resource.reason} />
        </p>
      )}
      <Facts live={live} resource={resource} />
      <ResourceActions live={live} resource={resource} />
      <div class="tabs" role="tablist" aria-label={visible(resource.name)}>
        {tabs.map((each) => (
          <button
            type="button"
            role="tab"
            key={each}
            class={each === tab ? "tab current" : "tab"}
            aria-selected={each === tab}
            onClick={() => setTab(each)}
          >
            {t(`resource.${each}` as Key)}
          </button>
        ))}
      </div>
      <div role="tabpanel" class="tab-content" aria-label={t(`resource.${tab}` as Key)}>
        <TabContent tab={tab} live={live} resource={resource} />
      </div>
    </aside>
  );
}

function Close({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <button type="button" class="close" aria-label={t("app.close")} onClick={onClose}>
      ✕
    </button>
  );
}

const pathOf = (resource: Resource): string =>
  `${stackPath(resource.stack.name, resource.stack.id)}/resources/${encodeURIComponent(resource.name)}`;

// The page of a type in Horizon and in Skyline, below their addresses.
const HORIZON: Record<string, string> = {
  "OS::Nova::Server": "project/instances/{id}/",
  "OS::Cinder::Volume": "project/volumes/{id}/",
  "OS::Neutron::Net": "project/networks/{id}/detail",
  "OS::Neutron::Router": "project/routers/{id}/",
};
const SKYLINE: Record<string, string> = {
  "OS::Nova::Server": "compute/instance/detail/{id}",
  "OS::Cinder::Volume": "storage/volume/detail/{id}",
  "OS::Neutron::Net": "network/networks/detail/{id}",
  "OS::Neutron::Router": "network/router/detail/{id}",
};

function Facts({ live, resource }: { live: LiveStack; resource: Resource }): JSX.Element {
  const requires = live.tree.of(resource.stack.id).filter((each) => each.requiredBy.includes(resource.name));
  const links = session.value?.links;
  const inDashboard = (base: string | null | undefined, page: string | undefined): string | null =>
    base && page
      ? `${base.replace(/\/$/, "")}/${page.replace("{id}", encodeURIComponent(resource.physicalId))}`
      : null;
  const horizon = inDashboard(links?.horizon, HORIZON[resource.type]);
  const skyline = inDashboard(links?.skyline, SKYLINE[resource.type]);
  return (
    <dl class="facts">
      {resource.physicalId && (
        <div>
          <dt>{t("resource.object")}</dt>
          <dd>
            <code>{visible(shortened(resource.physicalId, 60))}</code> <Copy value={resource.physicalId} />
            {horizon && <Outside to={horizon} text={t("resource.inHorizon")} />}
            {skyline && <Outside to={skyline} text={t("resource.inSkyline")} />}
          </dd>
        </div>
      )}
      <References title={t("resource.requires")} resources={requires} />
      <References
        title={t("resource.requiredBy")}
        resources={live.tree.of(resource.stack.id).filter((each) => resource.requiredBy.includes(each.name))}
      />
      <TemplateLines live={live} resource={resource} />
    </dl>
  );
}

function Outside({ to, text }: { to: string; text: string }): JSX.Element {
  return (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {text} <span class="hidden">({t("app.newWindow")})</span>
    </a>
  );
}

function References({
  title,
  resources,
}: {
  title: string;
  resources: readonly Resource[];
}): JSX.Element | null {
  if (resources.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {resources.slice(0, 30).map((each) => (
          <button type="button" class="link" key={each.key} onClick={() => setQuery({ resource: each.key })}>
            {visible(each.name)}
          </button>
        ))}
        {resources.length > 30 && <span class="muted">+ {resources.length - 30}</span>}
      </dd>
    </div>
  );
}

function TemplateLines({ live, resource }: { live: LiveStack; resource: Resource }): JSX.Element | null {
  const isOfRoot = resource.stack.id === live.address.id;
  const line = useRead(
    async (signal) => (isOfRoot ? definitionLine(live.path, resource.name, signal) : null),
    [resource.key, live.stack.value?.updated_time],
  ).value;
  if (!line) return null;
  return (
    <div>
      <dt>{t("resource.template")}</dt>
      <dd>
        <A to={stackPage(live.address, `template?line=${line}`)}>{t("stack.line", { line })}</A>
      </dd>
    </div>
  );
}

const HOOK = /(pre|post)-(create|update|delete)/;

function ResourceActions({ live, resource }: { live: LiveStack; resource: Resource }): JSX.Element {
  const [asked, ask] = useState<{ title: string; effect: string; run: () => Promise<unknown> } | null>(null);
  const path = pathOf(resource);
  const cause = live.why.value?.causes.find(
    (each) => each.hook && each.path.at(-1) === resource.name && each.stack_id === resource.stack.id,
  );
  const hook = cause?.hook ?? HOOK.exec(/hook/i.test(resource.reason) ? resource.reason : "")?.[0] ?? null;
  const isMarked = resource.status === "CHECK_FAILED";
  return (
    <p class="buttons start">
      {hook && (
        <button
          type="button"
          class="primary"
          onClick={() =>
            ask({
              title: t("resource.clearHook", { hook }),
              effect: `${resource.name}: ${resource.reason}`,
              run: () => json("POST", `${path}/signal`, { body: { unset_hook: hook } }),
            })
          }
        >
          {t("resource.clearHook", { hook })}
        </button>
      )}
      <button
        type="button"
        onClick={() =>
          ask({
            title: t("resource.signal"),
            effect: `${resource.name} (${resource.type})`,
            run: () => json("POST", `${path}/signal`, { body: {} }),
          })
        }
      >
        {t("resource.signal")}
      </button>
      <button
        type="button"
        onClick={() =>
          ask({
            title: t(isMarked ? "resource.healthy" : "resource.unhealthy"),
            effect: `${resource.name} (${resource.type})`,
            run: () => json("PATCH", path, { body: { mark_unhealthy: !isMarked } }),
          })
        }
      >
        {t(isMarked ? "resource.healthy" : "resource.unhealthy")}
      </button>
      {asked && (
        <Confirm
          title={asked.title}
          effect={<Text value={asked.effect} />}
          onConfirm={asked.run}
          onClose={() => ask(null)}
        />
      )}
    </p>
  );
}

interface TabProps {
  live: LiveStack;
  resource: Resource;
}

function TabContent({ tab, live, resource }: TabProps & { tab: Tab }): JSX.Element {
  if (tab === "why") return <WhyTab live={live} resource={resource} />;
  if (tab === "properties") return <PropertiesTab live={live} resource={resource} />;
  if (tab === "events") return <EventsTab live={live} resource={resource} />;
  if (tab === "console") return <ConsoleTab live={live} resource={resource} />;
  return <DataTab resource={resource} part={tab} />;
}

function WhyTab({ live, resource }: TabProps): JSX.Element {
  const read = useRead(
    async (signal) => (await json<{ why: Why }>("GET", `${pathOf(resource)}/why`, { signal })).why,
    [resource.key, resource.status, resource.reason, live.stack.value?.stack_status, live.why.value],
  );
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  const base = stackPage(live.address);
  if (read.value.causes.length === 0) return <p class="muted">{t("app.none")}</p>;
  return (
    <>
      {read.value.causes.map((cause) => (
        <CauseLine key={cause.path.join("/") + cause.kind} cause={cause} base={base} />
      ))}
    </>
  );
}

async function appliedProperties(resource: Resource, signal: AbortSignal): Promise<Record<string, unknown>> {
  const path = pathOf(resource);
  const list = await json<{ events: EventRow[] }>("GET", `${path}/events`, {
    query: { limit: 1, sort_dir: "desc" },
    signal,
  });
  const last = list.events[0];
  if (!last) return {};
  const { event } = await json<{ event: { resource_properties: Record<string, unknown> } }>(
    "GET",
    `${path}/events/${last.id}`,
    { signal },
  );
  return event.resource_properties;
}

function PropertiesTab({ live, resource }: TabProps): JSX.Element {
  const read = useRead((signal) => appliedProperties(resource, signal), [resource.key, resource.status]);
  const [isCompared, setCompared] = useState(false);
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  const given = Object.entries(withoutNulls(read.value) as Record<string, unknown>);
  return (
    <>
      {isCompared ? (
        <LiveComparison live={live} resource={resource} />
      ) : (
        <button type="button" onClick={() => setCompared(true)}>
          {t("resource.compare")}
        </button>
      )}
      <Pairs entries={given} />
    </>
  );
}

function LiveComparison({ live, resource }: TabProps): JSX.Element {
  const read = useRead(
    (signal) => json<{ drift: { resources: DriftedResource[] } }>("GET", `${live.path}/drift`, { signal }),
    [resource.key],
  );
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  const found = read.value.drift.resources.find(
    (each) => each.resource_name === resource.name && each.stack_id === resource.stack.id,
  );
  if (!found || (found.properties.length === 0 && !found.reason)) return <p>{t("resource.same")}</p>;
  return (
    <>
      {found.reason && <p class="muted">{visible(found.reason)}</p>}
      {found.properties.map((each) => (
        <div class="difference" key={each.name}>
          <strong>{visible(each.name)}</strong>
          <div class="old">
            {t("resource.applied")}: <Value value={each.applied} />
          </div>
          <div class="new">
            {t("resource.live")}: <Value value={each.live} />
          </div>
        </div>
      ))}
    </>
  );
}

function DataTab({ resource, part }: { resource: Resource; part: "attributes" | "metadata" }): JSX.Element {
  const read = useRead(
    async (signal): Promise<Record<string, unknown>> => {
      if (part === "metadata") {
        return (
          await json<{ metadata: Record<string, unknown> }>("GET", `${pathOf(resource)}/metadata`, { signal })
        ).metadata;
      }
      return (
        (await json<{ resource: ResourceRow }>("GET", pathOf(resource), { signal })).resource.attributes ?? {}
      );
    },
    [resource.key, resource.status, part],
  );
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  return <Pairs entries={Object.entries(read.value)} />;
}

function Pairs({ entries }: { entries: readonly [string, unknown][] }): JSX.Element {
  if (entries.length === 0) return <p class="muted">{t("app.none")}</p>;
  return (
    <dl class="pairs narrow">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            <Value value={value} />
            {textOf(value) && <Copy value={textOf(value)} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function EventsTab({ resource }: TabProps): JSX.Element {
  const read = useRead(
    (signal) =>
      json<{ events: EventRow[] }>("GET", `${pathOf(resource)}/events`, {
        query: { limit: 100, sort_dir: "desc" },
        signal,
      }),
    [resource.key, resource.status, resource.updated],
  );
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  return (
    <ol class="events">
      {read.value.events.map((event) => (
        <li key={event.id}>
          <Time value={event.event_time} /> <Status value={event.resource_status} />{" "}
          <Text value={event.resource_status_reason} />
        </li>
      ))}
    </ol>
  );
}

function ConsoleTab({ resource }: TabProps): JSX.Element {
  const read = useRead(
    (signal) =>
      json<{ output: string }>("GET", `${pathOf(resource)}/console_log`, {
        query: { lines: 500 },
        signal,
      }),
    [resource.key],
  );
  return (
    <>
      <button type="button" onClick={read.reload}>
        {t("resource.reload")}
      </button>
      {read.error !== null && <Failure error={read.error} />}
      {read.value && (
        <pre class="value log" tabIndex={0}>
          {visible(read.value.output) || t("app.none")}
        </pre>
      )}
    </>
  );
}
