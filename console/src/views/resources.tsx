/** The resources of a stack and of its nested stacks, as a list. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { t } from "../i18n";
import { shortened, visible } from "../model/text";
import type { Resource } from "../model/tree";
import { address, setQuery } from "../router";
import { Copy, Empty, Status, Time } from "../widgets/basics";
import { type Column, Table } from "../widgets/table";
import type { ViewProps } from "./stack";

export function Resources({ live }: ViewProps): JSX.Element {
  const query = address.value.query;
  const search = query.get("q") ?? "";
  const rows = useMemo(() => sorted(live), [live.version.value]);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = words.length ? rows.filter((row) => matches(row, words)) : rows;
  const columns: Column<Resource>[] = [
    {
      title: t("stacks.name"),
      width: "minmax(9rem, 2.5fr)",
      cell: (row) => (
        <span style={{ paddingLeft: `${live.tree.path(row).length - 1}rem` }}>
          {visible(row.name)}
          {row.nested && <span class="muted"> ({live.tree.of(row.nested.id).length})</span>}
        </span>
      ),
    },
    { title: t("resources.type"), width: "minmax(8rem, 2fr)", cell: (row) => visible(row.type) },
    {
      title: t("stacks.status"),
      width: "minmax(11rem, 1.5fr)",
      cell: (row) => <Status value={row.status} />,
    },
    {
      title: t("resources.id"),
      width: "minmax(8rem, 2fr)",
      cell: (row) =>
        row.physicalId && (
          <>
            <code title={visible(row.physicalId)}>{visible(shortened(row.physicalId, 40))}</code>{" "}
            <Copy value={row.physicalId} />
          </>
        ),
    },
    { title: t("stacks.updated"), width: "minmax(7rem, 1fr)", cell: (row) => <Time value={row.updated} /> },
  ];
  return (
    <div class="list">
      <div class="toolbar">
        <input
          type="search"
          class="search"
          placeholder={t("resources.filter")}
          aria-label={t("resources.filter")}
          value={search}
          onInput={(e) => setQuery({ q: e.currentTarget.value || null })}
        />
        <span class="muted" role="status">
          {t("resources.count", { n: shown.length.toLocaleString() })}
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty title={t(rows.length ? "resources.none" : "graph.empty")} />
      ) : (
        <Table
          label={t("stack.resources")}
          rows={shown}
          columns={columns}
          keyOf={(row) => row.key}
          selected={query.get("resource")}
          onSelect={(row) => setQuery({ resource: row.key })}
        />
      )}
    </div>
  );
}

/** Return all resources, each followed by those inside of it. */
function sorted(live: ViewProps["live"]): Resource[] {
  const found: Resource[] = [];
  const add = (stackId: string): void => {
    for (const each of live.tree.of(stackId)) {
      found.push(each);
      if (each.nested) add(each.nested.id);
    }
  };
  add(live.address.id);
  return found;
}

function matches(row: Resource, words: readonly string[]): boolean {
  const text = `${row.name} ${row.type} ${row.status} ${row.physicalId}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
