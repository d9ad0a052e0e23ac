/**
 * The stacks of a project, kept current by small reads: the stacks that are in progress, those
 * that were, and the newest. All are read again once a minute.
 */

import { signal } from "@preact/signals";
import { json } from "../api/client";
import { ApiError } from "../api/errors";
import type { StackRow } from "../api/types";
import { isOpen } from "./statuses";

const PAGE = 1000;
const NEWEST = 50;
const EVERYTHING_MS = 60_000;
const MOST_SINGLE_READS = 40;

export class StackList {
  readonly stacks = signal<readonly StackRow[]>([]);
  readonly isLoaded = signal(false);
  readonly error = signal<ApiError | null>(null);
  private lastWhole = 0;
  private isBusy = false;

  constructor(private readonly allProjects: boolean) {}

  /** Read what may have changed. Reads do not overlap. */
  async refresh(): Promise<void> {
    if (this.isBusy || this.error.value?.status === 403) return;
    this.isBusy = true;
    try {
      if (Date.now() - this.lastWhole > EVERYTHING_MS) await this.readAll();
      else await this.readChanged();
      this.error.value = null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.error.value = error;
    } finally {
      this.isBusy = false;
    }
  }

  private async readAll(): Promise<void> {
    const found: StackRow[] = [];
    for (;;) {
      const page = await this.page({ limit: PAGE, ...(found.length ? { marker: found.at(-1)?.id } : {}) });
      found.push(...page);
      if (!this.isLoaded.value || page.length < PAGE) this.stacks.value = [...found];
      if (page.length < PAGE) break;
    }
    this.lastWhole = Date.now();
    this.isLoaded.value = true;
  }

  private async readChanged(): Promise<void> {
    const before = this.stacks.value;
    const open = await this.page({ status: "IN_PROGRESS", limit: PAGE });
    const newest = await this.page({ limit: NEWEST, sort_keys: "creation_time", sort_dir: "desc" });
    const current = new Map([...newest, ...open].map((each) => [each.id, each]));
    const ended = before.filter((each) => isOpen(each.stack_status) && !current.has(each.id));
    if (ended.length > MOST_SINGLE_READS) {
      await this.readAll();
      return;
    }
    const gone = new Set<string>();
    const ids = ended.map((each) => each.id);
    if (ids.length > 0) {
      for (const each of await this.page({ id: ids })) current.set(each.id, each);
      for (const id of ids) if (!current.has(id)) gone.add(id);
    }
    const known = new Set(before.map((each) => each.id));
    const added = [...current.values()].filter((each) => !known.has(each.id));
    const kept = before.filter((each) => !gone.has(each.id)).map((each) => current.get(each.id) ?? each);
    this.stacks.value = [...added, ...kept];
  }

  private async page(query: Record<string, string | number | string[] | undefined>): Promise<StackRow[]> {
    const all = this.allProjects ? { global_tenant: true } : {};
    return (await json<{ stacks: StackRow[] }>("GET", "/stacks", { query: { ...query, ...all } })).stacks;
  }
}
