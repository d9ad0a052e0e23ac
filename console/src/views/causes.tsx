/** Why a stack failed or what it waits for, above all views. */

import type { JSX } from "preact";
import type { Cause } from "../api/types";
import { t } from "../i18n";
import type { LiveStack } from "../model/live";
import { visible } from "../model/text";
import { keyOf } from "../model/tree";
import { A, Status, Text, Time } from "../widgets/basics";

const MOST = 3;

export function CauseBanner({ live, base }: { live: LiveStack; base: string }): JSX.Element | null {
  const why = live.why.value;
  if (!why || why.causes.length === 0) return null;
  const isFailed = why.stack_status.endsWith("FAILED");
  return (
    <section
      class={isFailed ? "causes failed" : "causes"}
      aria-label={t(isFailed ? "stack.cause" : "stack.waits")}
    >
      <h2>{t(isFailed ? "stack.cause" : "stack.waits")}</h2>
      {why.causes.slice(0, MOST).map((cause) => (
        <CauseLine key={cause.path.join("/")} cause={cause} base={base} />
      ))}
    </section>
  );
}

export function CauseLine({ cause, base }: { cause: Cause; base: string }): JSX.Element {
  const key = keyOf(cause.stack_id, cause.path.at(-1) ?? "");
  return (
    <p class="cause">
      <A to={`${base}/graph?resource=${encodeURIComponent(key)}`}>{visible(cause.path.join(" / "))}</A>{" "}
      <span class="muted">{visible(cause.resource_type)}</span> <Status value={cause.resource_status} />{" "}
      <Text value={cause.text} most={600} />
      {cause.waits_for.length > 0 && (
        <span class="muted">
          {" "}
          {t("stack.waits")} {visible(cause.waits_for.join(", "))}
        </span>
      )}
      {cause.signals && (
        <span class="muted">
          {" "}
          ({cause.signals.received}/{cause.signals.wanted})
        </span>
      )}
      {cause.position && (
        <>
          {" "}
          <A
            to={`${base}/template?line=${cause.position.line}${cause.position.file ? `&file=${encodeURIComponent(cause.position.file)}` : ""}`}
          >
            {visible(cause.position.file ?? t("template.main"))},{" "}
            {t("stack.line", { line: cause.position.line })}
          </A>
        </>
      )}
      {cause.since && (
        <span class="muted">
          {" "}
          {t("stack.since")} <Time value={cause.since} />
        </span>
      )}
      {cause.request_id && <span class="muted"> {visible(cause.request_id)}</span>}
    </p>
  );
}
