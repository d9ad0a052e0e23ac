/** One stack: its header, its views, and the panel of the selected resource. */

import type { ComponentType, JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { session } from "../api/session";
import { type Key, t } from "../i18n";
import { LiveStack } from "../model/live";
import { visible } from "../model/text";
import { address, setQuery, stackPage } from "../router";
import { A, Empty, Failure, Loading, Status, Text, Time } from "../widgets/basics";
import { Actions } from "./actions";
import { CauseBanner } from "./causes";
import { Deployments } from "./deployments";
import { Drift } from "./drift";
import { Events } from "./events";
import { GraphView } from "./graph";
import { Outputs, Parameters } from "./outputs";
import { ResourcePanel } from "./resource";
import { Resources } from "./resources";
import { Snapshots } from "./snapshots";
import { TemplateView } from "./template";
import { TimelineView } from "./timeline";

export interface ViewProps {
  live: LiveStack;
}

const VIEWS: Record<string, ComponentType<ViewProps>> = {
  graph: GraphView,
  timeline: TimelineView,
  resources: Resources,
  events: Events,
  outputs: Outputs,
  parameters: Parameters,
  template: TemplateView,
  snapshots: Snapshots,
  drift: Drift,
  deployments: Deployments,
};

export function StackPage({ name, id, view }: { name: string; id: string; view: string }): JSX.Element {
  const live = useMemo(() => new LiveStack({ name, id }), [name, id]);
  useEffect(() => {
    void live.open();
    return () => live.close();
  }, [live]);
  useEffect(() => {
    // The stream ended with the session; a new session continues it.
    if (session.value && live.error.value?.status === 401) void live.reopen();
  }, [session.value]);
  const View = Object.hasOwn(VIEWS, view) ? VIEWS[view] : undefined;
  const stack = live.stack.value;
  const error = live.error.value;
  const base = stackPage({ name, id });
  const selected = address.value.query.get("resource");
  if (!View) return <Missing />;
  if (error?.status === 404) {
    return (
      <main id="content" class="page">
        <Empty title={t(stack ? "stack.gone" : "stack.missing")}>
          <A to="/stacks">{t("app.notFoundHint")}</A>
        </Empty>
      </main>
    );
  }
  return (
    <main id="content" class={selected ? "page stack with-panel" : "page stack"}>
      <header class="stack-head">
        <h1>{visible(name)}</h1>
        {stack && (
          <>
            <span role="status">
              <Status value={stack.stack_status} />
            </span>
            <span class="muted">
              <Time value={stack.updated_time ?? stack.creation_time} />
            </span>
            <span class="grow" />
            <Actions live={live} stack={stack} />
          </>
        )}
      </header>
      {stack?.stack_status.endsWith("FAILED") && !isExplained(live, stack.stack_status_reason) && (
        <p class="reason">
          <Text value={stack.stack_status_reason} most={600} />
        </p>
      )}
      <CauseBanner live={live} base={base} />
      <nav class="views" aria-label={t("stack.views")}>
        {Object.keys(VIEWS).map((each) => (
          <A
            key={each}
            to={`${base}/${each}${selected ? `?resource=${encodeURIComponent(selected)}` : ""}`}
            current={each === view}
          >
            {t(`stack.${each}` as Key)}
          </A>
        ))}
      </nav>
      {error && <Failure error={error} retry={() => void live.reopen()} />}
      <div class="stack-body">
        <section class="view" aria-label={t(`stack.${view}` as Key)}>
          {live.isLoaded.value ? <View live={live} /> : !error && <Loading />}
        </section>
        {selected && live.isLoaded.value && (
          <ResourcePanel
            key={selected}
            live={live}
            id={selected}
            onClose={() => setQuery({ resource: null })}
          />
        )}
      </div>
    </main>
  );
}

/** Return whether a cause below says the same as the reason of the stack. */
function isExplained(live: LiveStack, reason: string): boolean {
  return (live.why.value?.causes ?? []).some((cause) => cause.text && reason.includes(cause.text));
}

export function Missing(): JSX.Element {
  return (
    <main id="content" class="page">
      <Empty title={t("app.notFound")}>
        <A to="/stacks">{t("app.notFoundHint")}</A>
      </Empty>
    </main>
  );
}
