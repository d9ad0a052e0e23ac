/** The stacks of a project, with a search that also finds resources. */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { json } from "../api/client";
import { session } from "../api/session";
import type { StackRow } from "../api/types";
import { t } from "../i18n";
import { useInterval } from "../model/hooks";
import { StackList } from "../model/stack_list";
import { visible } from "../model/text";
import { keyOf } from "../model/tree";
import { address, go, setQuery, stackPage } from "../router";
import { A, Empty, Failure, Loading, Status, Time } from "../widgets/basics";
import { type Column, Table } from "../widgets/table";

const REFRESH_MS = 3000;

/** A resource that the service's search found. */
interface Match {
  stack: { name: string; id: string };
  root_stack: { name: string; id: string };
  path: string[];
  resource_name: string | null;
  resource_type: string | null;
  physical_resource_id: string | null;
  status: string;
}

function matches(stack: StackRow, words: readonly string[]): boolean {
  const text = [stack.stack_name, stack.stack_status, stack.id, stack.stack_owner, ...(stack.tags ?? [])]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

function pageOf(row: StackRow): string {
  const project = row.project === session.value?.project.id ? undefined : row.project;
  return stackPage({ name: row.stack_name, id: row.id }, "", project);
}

export function Stacks(): JSX.Element {
  const query = address.value.query;
  const isAll = query.get("all") === "1" && !!session.value?.is_admin;
  const search = query.get("q") ?? "";
  const list = useMemo(() => new StackList(isAll), [isAll, session.value?.project.id]);
  useEffect(() => void list.refresh(), [list]);
  useInterval(() => void list.refresh(), REFRESH_MS);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const stacks = list.stacks.value;
  const shown = useMemo(
    () => (words.length ? stacks.filter((each) => matches(each, words)) : stacks),
    [stacks, search],
  );
  const found = useMatches(search);
  const columns: Column<StackRow>[] = [
    {
      title: t("stacks.name"),
      width: "minmax(9rem, 3fr)",
      cell: (row) => <A to={pageOf(row)}>{visible(row.stack_name)}</A>,
    },
    {
      title: t("stacks.status"),
      width: "minmax(8rem, 2fr)",
      cell: (row) => <Status value={row.stack_status} />,
    },
    {
      title: t("stacks.created"),
      width: "minmax(7rem, 1.5fr)",
      cell: (row) => <Time value={row.creation_time} />,
    },
    {
      title: t("stacks.updated"),
      width: "minmax(7rem, 1.5fr)",
      cell: (row) => <Time value={row.updated_time} />,
    },
    { title: t("stacks.owner"), width: "minmax(5rem, 1fr)", cell: (row) => visible(row.stack_owner ?? "") },
    {
      title: t("stacks.tags"),
      width: "minmax(5rem, 1.5fr)",
      cell: (row) =>
        (row.tags ?? []).map((tag) => (
          <button type="button" class="tag" key={tag} onClick={() => setQuery({ q: tag })}>
            {visible(tag)}
          </button>
        )),
    },
  ];
  if (isAll) {
    columns.push({
      title: t("stacks.project"),
      width: "minmax(6rem, 1fr)",
      cell: (row) => row.project ?? "",
    });
  }
  return (
    <main id="content" class="page">
      <div class="page-head">
        <h1>{t(isAll ? "stacks.allProjects" : "stacks.title")}</h1>
        <span class="muted" role="status">
          {list.isLoaded.value ? t("stacks.count", { n: shown.length.toLocaleString() }) : t("app.loading")}
        </span>
        <span class="grow" />
        {session.value?.is_admin && (
          <label class="check">
            <input type="checkbox" checked={isAll} onChange={() => setQuery({ all: isAll ? null : "1" })} />
            {t("stacks.allProjects")}
          </label>
        )}
        <A to="/stacks/new" class="button primary">
          {t("stacks.create")}
        </A>
      </div>
      <input
        type="search"
        class="search"
        placeholder={t("stacks.search")}
        aria-label={t("stacks.search")}
        value={search}
        onInput={(e) => setQuery({ q: e.currentTarget.value || null })}
      />
      {list.error.value && <Failure error={list.error.value} retry={() => void list.refresh()} />}
      {isAll && list.error.value?.status === 403 && <p>{t("stacks.allProjectsHint")}</p>}
      {!list.isLoaded.value && !list.error.value && stacks.length === 0 && <Loading />}
      {list.isLoaded.value && stacks.length === 0 && (
        <Empty title={t("stacks.empty")}>
          <p>{t("stacks.emptyHint")}</p>
        </Empty>
      )}
      {stacks.length > 0 && shown.length === 0 && found.length === 0 && (
        <Empty title={t("stacks.noMatch")}>
          <p>{t("stacks.noMatchHint")}</p>
        </Empty>
      )}
      {found.length > 0 && <Matches found={found} />}
      {shown.length > 0 && (
        <Table
          label={t("stacks.title")}
          rows={shown}
          columns={columns}
          keyOf={(row) => row.id}
          onSelect={(row) => go(pageOf(row))}
        />
      )}
    </main>
  );
}

/** Return the resources that the service finds, a moment after the user has stopped typing. */
function useMatches(search: string): readonly Match[] {
  const [found, setFound] = useState<readonly Match[]>([]);
  useEffect(() => {
    const ended = new AbortController();
    setFound([]);
    if (search.trim().length < 3) return;
    const timer = setTimeout(() => {
      json<{ matches: Match[] }>("GET", "/search", {
        query: { text: search.trim(), limit: 20 },
        signal: ended.signal,
      })
        .then((answer) => setFound(answer.matches.filter((each) => each.resource_name !== null)))
        .catch(() => setFound([]));
    }, 250);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [search]);
  return found;
}

function Matches({ found }: { found: readonly Match[] }): JSX.Element {
  return (
    <section class="matches" aria-label={t("stacks.matches")}>
      <h2>{t("stacks.matches")}</h2>
      <ul>
        {found.map((each) => (
          <li key={`${each.stack.id}/${each.path.join("/")}/${each.resource_name}`}>
            <A
              to={stackPage(
                each.root_stack,
                `resources?resource=${encodeURIComponent(keyOf(each.stack.id, each.resource_name ?? ""))}`,
              )}
            >
              {visible([each.root_stack.name, ...each.path, each.resource_name].join(" / "))}
            </A>{" "}
            <span class="muted">
              {visible(each.resource_type ?? "")} {visible(each.physical_resource_id ?? "")}
            </span>{" "}
            <Status value={each.status} />
          </li>
        ))}
      </ul>
    </section>
  );
}
