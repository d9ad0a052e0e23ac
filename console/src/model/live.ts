/**
 * One stack, live: read once, then kept current by its events.
 *
 * The last event is read first, then the lists, then all events after it: an event that the lists
 * already contain is applied twice, which changes nothing; none is missed.
 */

import { batch, signal } from "@preact/signals";
import { json, stackPath } from "../api/client";
import { ApiError } from "../api/errors";
import { follow, type Message } from "../api/stream";
import type { EventRow, ResourceRow, Stack, Why } from "../api/types";
import type { StackAddress } from "./addresses";
import { EventReader, type StackEvent } from "./events";
import { lookOf } from "./statuses";
import { startsOperation } from "./timeline";
import { StackTree } from "./tree";

const DEPTH = 20;
/** Events that are kept; older ones are read again when they are asked for. */
const MOST_EVENTS = 50_000;
const REREAD_MS = 400;
const FRAME_MS = 50;
const PAGE = 1000;
const LARGE_PAGE = 20_000;

export class LiveStack {
  readonly stack = signal<Stack | null>(null);
  readonly why = signal<Why | null>(null);
  readonly error = signal<ApiError | null>(null);
  /** Counts changes of the tree, which is changed in place. */
  readonly version = signal(0);
  readonly tree: StackTree;
  /** The newest events, oldest first. */
  readonly events = signal<readonly StackEvent[]>([]);
  readonly hasOlder = signal(false);
  readonly isLoaded = signal(false);
  readonly path: string;
  private readonly reader: EventReader;
  /** Events that have arrived since the page was drawn. */
  private arrived: StackEvent[] = [];
  /** Ids of events that the stream may repeat. */
  private readonly recent = new Set<string>();
  private frame: ReturnType<typeof setTimeout> | undefined;
  private stop: () => void = () => {};
  private isClosed = false;
  private readonly pending = new Set<"stack" | "resources" | "why">();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly address: StackAddress) {
    this.tree = new StackTree(address);
    this.reader = new EventReader(address);
    this.path = stackPath(address.name, address.id);
  }

  async open(): Promise<void> {
    try {
      const newest = await this.newestEvents(null);
      await Promise.all([this.readStack(), this.readResources()]);
      batch(() => {
        this.events.value = newest;
        this.recent.clear();
        for (const event of newest) this.recent.add(event.id);
        this.hasOlder.value = newest.length === PAGE;
        this.isLoaded.value = true;
        this.error.value = null;
      });
      if (this.isClosed) return;
      this.stop = follow(`${this.path}/events`, {
        query: { nested_depth: DEPTH, precise: "true" },
        after: newest.at(-1)?.id ?? null,
        onMessage: (message) => this.receive(message),
        onLost: () => void this.reopen(),
      });
      this.later("why");
    } catch (error) {
      if (error instanceof ApiError) this.error.value = error;
      else throw error;
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearTimeout(this.frame);
    this.stop();
  }

  /** Read everything again. */
  async reopen(): Promise<void> {
    this.stop();
    if (!this.isClosed) await this.open();
  }

  /** Read a page of older events. */
  async readOlder(limit = PAGE): Promise<void> {
    const older = await this.newestEvents(this.events.value[0]?.id ?? null, limit);
    batch(() => {
      this.events.value = [...older, ...this.events.value].slice(-MOST_EVENTS);
      this.hasOlder.value = older.length === limit && this.events.value.length < MOST_EVENTS;
    });
  }

  /** Read older events until the start of the last `count` operations is known, or the limit. */
  async readOperations(count: number): Promise<void> {
    const isStart = (event: StackEvent): boolean => startsOperation(event, this.address.id);
    while (this.hasOlder.value && this.events.value.filter(isStart).length < count && !this.isClosed) {
      await this.readOlder(LARGE_PAGE);
    }
  }

  private async newestEvents(before: string | null, limit = PAGE): Promise<StackEvent[]> {
    const query = { nested_depth: DEPTH, limit, sort_dir: "desc", precise: true };
    const answer = await json<{ events: EventRow[] }>("GET", `${this.path}/events`, {
      query: before ? { ...query, marker: before } : query,
    });
    return answer.events.reverse().map((row) => this.reader.read(row));
  }

  private async readStack(): Promise<void> {
    const answer = await json<{ stack: Stack }>("GET", this.path, { query: { resolve_outputs: false } });
    this.stack.value = answer.stack;
  }

  private async readResources(): Promise<void> {
    const answer = await json<{ resources: ResourceRow[] }>("GET", `${this.path}/resources`, {
      query: { nested_depth: DEPTH },
    });
    this.tree.load(answer.resources);
    this.version.value++;
  }

  private async readWhy(): Promise<void> {
    const look = lookOf(this.stack.value?.stack_status ?? "");
    if (look !== "failed" && look !== "working") {
      this.why.value = null;
      return;
    }
    this.why.value = (await json<{ why: Why }>("GET", `${this.path}/why`)).why;
  }

  private receive(message: Message): void {
    if (message.event !== "event") return;
    const event = this.reader.read(JSON.parse(message.data) as EventRow);
    if (this.recent.has(event.id)) return;
    const isOfRoot = event.isOfStack && event.stack.id === this.address.id;
    this.arrived.push(event);
    this.recent.add(event.id);
    if (isOfRoot && this.stack.value) {
      this.stack.value = {
        ...this.stack.value,
        stack_status: event.status,
        stack_status_reason: event.reason,
      };
    }
    if (this.tree.apply(event)) this.later("resources");
    this.showArrived();
    if (isOfRoot) this.later("stack");
    // Group members get their dependencies when their stack has been planned.
    if (isOfRoot) this.later("resources");
    this.later("why");
  }

  /** Show events together that arrive together. */
  private showArrived(): void {
    this.frame ??= setTimeout(() => {
      this.frame = undefined;
      const arrived = this.arrived;
      this.arrived = [];
      batch(() => {
        this.events.value = [...this.events.value, ...arrived].slice(-MOST_EVENTS);
        this.version.value++;
      });
      if (this.recent.size > MOST_EVENTS) this.recent.clear();
    }, FRAME_MS);
  }

  /** Read a part again soon; events that arrive together cause one read. */
  private later(part: "stack" | "resources" | "why"): void {
    this.pending.add(part);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const parts = [...this.pending];
      this.pending.clear();
      for (const each of parts) void this.reread(each);
    }, REREAD_MS);
  }

  private async reread(part: "stack" | "resources" | "why"): Promise<void> {
    try {
      if (part === "stack") await this.readStack();
      else if (part === "resources") await this.readResources();
      else await this.readWhy();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 && part === "stack") this.error.value = error;
    }
  }
}
