/** The plan of a create or an update, before it is executed. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { json, stackPath } from "../api/client";
import { ApiError } from "../api/errors";
import type { UpdatePreview } from "../api/types";
import { t } from "../i18n";
import { useInterval } from "../model/hooks";
import { type Current, type Plan, stateOf } from "../model/launching";
import { visible } from "../model/text";
import { go, stackPage } from "../router";
import { Failure } from "../widgets/basics";
import { PlanGraph, PlanList, Quotas } from "./plan";

const WATCH_MS = 3000;

interface ReviewProps {
  plan: Plan;
  current: Current | null;
  name: string;
  onEdit: () => void;
  onAgain: () => Promise<void>;
}

export function Review({ plan, current, name, onEdit, onAgain }: ReviewProps): JSX.Element {
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
