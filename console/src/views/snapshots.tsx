/** Snapshots of a stack: take, restore, delete. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { json } from "../api/client";
import type { Snapshot } from "../api/types";
import { t } from "../i18n";
import { useInterval, useRead } from "../model/hooks";
import { visible } from "../model/text";
import { Copy, Empty, Failure, Loading, Status, Text, Time } from "../widgets/basics";
import { Confirm } from "../widgets/dialog";
import type { ViewProps } from "./stack";

export function Snapshots({ live }: ViewProps): JSX.Element {
  const path = `${live.path}/snapshots`;
  const read = useRead(
    async (signal) => (await json<{ snapshots: Snapshot[] }>("GET", path, { signal })).snapshots,
    [path, live.stack.value?.stack_status],
  );
  useInterval(() => {
    if (read.value?.some((each) => each.status === "IN_PROGRESS")) read.reload();
  }, 1500);
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [asked, ask] = useState<{ kind: "restore" | "delete"; snapshot: Snapshot } | null>(null);
  const take = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await json("POST", path, { body: name ? { name } : {} });
      setName("");
      setError(null);
      read.reload();
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <div>
      <form class="toolbar" onSubmit={take}>
        <label>
          {t("snapshots.name")}{" "}
          <input value={name} maxLength={255} onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">
          {t("snapshots.take")}
        </button>
      </form>
      {error !== null && <Failure error={error} />}
      {read.error !== null && <Failure error={read.error} retry={read.reload} />}
      {!read.value && read.error === null && <Loading />}
      {read.value?.length === 0 && (
        <Empty title={t("snapshots.empty")}>
          <p>{t("snapshots.hint")}</p>
        </Empty>
      )}
      {(read.value ?? []).map((each) => (
        <article class="card" key={each.id}>
          <h2>{visible(each.name ?? each.id)}</h2>
          <p>
            <Status value={`SNAPSHOT_${each.status}`} /> <Time value={each.creation_time} />{" "}
            <code>{each.id}</code> <Copy value={each.id} />
          </p>
          {each.status === "FAILED" && (
            <p class="reason">
              <Text value={each.status_reason} />
            </p>
          )}
          <p class="buttons start">
            <button type="button" onClick={() => ask({ kind: "restore", snapshot: each })}>
              {t("snapshots.restore")}
            </button>
            <button type="button" onClick={() => ask({ kind: "delete", snapshot: each })}>
              {t("snapshots.delete")}
            </button>
          </p>
        </article>
      ))}
      {asked && (
        <Confirm
          title={t(asked.kind === "restore" ? "action.restore" : "action.deleteSnapshot", {
            name: visible(asked.snapshot.name ?? asked.snapshot.id),
          })}
          effect={t(asked.kind === "restore" ? "action.restoreEffect" : "action.deleteSnapshotEffect")}
          typed={live.address.name}
          onConfirm={async () => {
            if (asked.kind === "restore") await json("POST", `${path}/${asked.snapshot.id}/restore`);
            else await json("DELETE", `${path}/${asked.snapshot.id}`);
            read.reload();
          }}
          onClose={() => ask(null)}
        />
      )}
    </div>
  );
}
