/** Events of a stack, the newest first, as they happen. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { t } from "../i18n";
import type { StackEvent } from "../model/events";
import { shortened, visible } from "../model/text";
import { keyOf } from "../model/tree";
import { address, setQuery } from "../router";
import { Empty, Failure, Status, Time } from "../widgets/basics";
import { type Column, Table } from "../widgets/table";
import type { ViewProps } from "./stack";

export function Events({ live }: ViewProps): JSX.Element {
  const search = address.value.query.get("q") ?? "";
  const [error, setError] = useState<unknown>(null);
  const events = live.events.value;
  const shown = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (event: StackEvent): boolean => {
      const text = `${event.name} ${event.status} ${event.reason} ${event.type}`;
      return words.every((word) => text.toLowerCase().includes(word));
    };
    return (words.length ? events.filter(matches) : [...events]).reverse();
  }, [events, search]);
  const columns: Column<StackEvent>[] = [
    { title: t("events.time"), width: "9rem", cell: (row) => <Time value={row.at} /> },
    {
      title: t("events.resource"),
      width: "minmax(8rem, 1.5fr)",
      cell: (row) => <span title={visible(row.type)}>{visible(shortened(row.name, 120))}</span>,
    },
    {
      title: t("stacks.status"),
      width: "minmax(10rem, 1fr)",
      cell: (row) => <Status value={row.status} />,
    },
    {
      title: t("events.reason"),
      width: "minmax(10rem, 3fr)",
      cell: (row) => (
        <span title={visible(shortened(row.reason, 2000))}>{visible(shortened(row.reason, 300))}</span>
      ),
    },
  ];
  const select = (row: StackEvent): void => {
    if (!row.isOfStack) setQuery({ resource: keyOf(row.stack.id, row.name) });
  };
  return (
    <div class="list">
      <div class="toolbar">
        <input
          type="search"
          class="search"
          placeholder={t("events.filter")}
          aria-label={t("events.filter")}
          value={search}
          onInput={(e) => setQuery({ q: e.currentTarget.value || null })}
        />
        <span class="muted">{t("events.follow")}</span>
        <span class="grow" />
        {live.hasOlder.value && (
          <button type="button" onClick={() => live.readOlder().catch(setError)}>
            {t("events.older")}
          </button>
        )}
      </div>
      {error !== null && <Failure error={error} />}
      {shown.length === 0 ? (
        <Empty title={t("events.empty")} />
      ) : (
        <Table
          label={t("stack.events")}
          rows={shown}
          columns={columns}
          keyOf={(row) => row.id}
          onSelect={select}
        />
      )}
    </div>
  );
}
