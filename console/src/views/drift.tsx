/** What others have changed of a stack's objects, and its repair. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { json } from "../api/client";
import type { DriftedResource } from "../api/types";
import { t } from "../i18n";
import { visible } from "../model/text";
import { keyOf } from "../model/tree";
import { setQuery } from "../router";
import { Failure, Loading, Value } from "../widgets/basics";
import { Confirm } from "../widgets/dialog";
import type { ViewProps } from "./stack";

export function Drift({ live }: ViewProps): JSX.Element {
  const [found, setFound] = useState<readonly DriftedResource[] | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [isRepairing, setRepairing] = useState(false);
  const check = async (): Promise<void> => {
    setBusy(true);
    try {
      setFound(
        (await json<{ drift: { resources: DriftedResource[] } }>("GET", `${live.path}/drift`)).drift
          .resources,
      );
      setError(null);
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  const drifted = (found ?? []).filter((each) => each.state === "changed" || each.state === "gone");
  return (
    <div>
      <p>{t("drift.intro")}</p>
      <p class="buttons start">
        <button type="button" class="primary" disabled={isBusy} onClick={check}>
          {t("drift.check")}
        </button>
        {drifted.length > 0 && (
          <button type="button" onClick={() => setRepairing(true)}>
            {t("drift.repair")}
          </button>
        )}
      </p>
      {isBusy && <Loading />}
      {error !== null && <Failure error={error} />}
      {found && drifted.length === 0 && !isBusy && (
        <p role="status" class="good">
          ✓ {t("drift.none")}
        </p>
      )}
      {drifted.map((each) => (
        <article class="card" key={keyOf(each.stack_id, each.resource_name)}>
          <h2>
            <button
              type="button"
              class="link"
              onClick={() => setQuery({ resource: keyOf(each.stack_id, each.resource_name) })}
            >
              {visible(each.resource_name)}
            </button>{" "}
            <span class="muted">{visible(each.resource_type)}</span>
          </h2>
          <p>
            {each.state} {visible(each.reason)}
          </p>
          {each.properties.map((property) => (
            <div class="difference" key={property.name}>
              <strong>{visible(property.name)}</strong>
              <div class="old">
                {t("resource.applied")}: <Value value={property.applied} />
              </div>
              <div class="new">
                {t("resource.live")}: <Value value={property.live} />
              </div>
            </div>
          ))}
        </article>
      ))}
      {isRepairing && (
        <Confirm
          title={t("drift.repair")}
          effect={t("drift.repairEffect")}
          onConfirm={() => json("PATCH", live.path, { body: { existing: true, converge: true } })}
          onClose={() => setRepairing(false)}
        />
      )}
    </div>
  );
}
