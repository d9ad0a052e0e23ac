/** Server-sent events over fetch: EventSource cannot send the console's header. */

import { isReachable, request } from "./client";
import { ApiError } from "./errors";

export interface Message {
  event: string;
  id: string | null;
  data: string;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Split a stream of text into messages. Comments, which keep the connection open, are dropped. */
export class MessageParser {
  private rest = "";

  /** Return the messages that `chunk` completes. */
  push(chunk: string): Message[] {
    this.rest += chunk;
    const blocks = this.rest.split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(parsed).filter((message) => message !== null);
  }
}

function parsed(block: string): Message | null {
  const message: Message = { event: "message", id: null, data: "" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    const field = line.slice(0, colon);
    if (field === "data") data.push(value);
    else if (field === "event") message.event = value;
    else if (field === "id") message.id = value;
  }
  message.data = data.join("\n");
  return data.length ? message : null;
}

export interface StreamOptions {
  query: Record<string, string | number>;
  /** The id of the last event that is known; later ones are sent. */
  after: string | null;
  onMessage: (message: Message) => void;
  /** Called if the service does not know `after` any more, or the stream cannot be had. */
  onLost: (error: ApiError) => void;
}

/** Follow a stream until the returned function is called. Reconnects, and misses nothing. */
export function follow(path: string, options: StreamOptions): () => void {
  const ended = new AbortController();
  void run(path, options, ended.signal);
  return () => ended.abort();
}

async function run(path: string, options: StreamOptions, ended: AbortSignal): Promise<void> {
  let after = options.after;
  let pause = FIRST_PAUSE_MS;
  while (!ended.aborted) {
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (after) headers["Last-Event-ID"] = after;
      const response = await request("GET", path, { query: options.query, headers, signal: ended });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      const parser = new MessageParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        pause = FIRST_PAUSE_MS;
        for (const message of parser.push(decoder.decode(value, { stream: true }))) {
          if (message.id) after = message.id;
          options.onMessage(message);
        }
      }
    } catch (error) {
      if (ended.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
        options.onLost(error);
        return;
      }
      isReachable.value = false;
    }
    await sleep(pause * (0.5 + Math.random() / 2), ended);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

function sleep(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ended.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
