/** Requests to the API of the current project, with the session's cookie. */

import { signal } from "@preact/signals";
import { ApiError, errorOf } from "./errors";

// A page of another site cannot send this header without the service's consent.
const SESSION_HEADER = "X-Stoker-Session";
const OWN = { "X-Stoker-Console": "1" };

/** Whether the last request reached the service. */
export const isReachable = signal(true);

type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

interface Settings {
  project: string;
  /** The session that this page shows; another tab may have changed it. */
  session: string | null;
  onExpired: () => void;
  onChanged: () => void;
}

let settings: Settings = { project: "", session: null, onExpired: () => {}, onChanged: () => {} };
let visited: string | null = null;

/** Set the project and the session of later requests. */
export function configure(next: Settings): void {
  settings = next;
}

/** Use another project's address; administrators may. Null is that of the session. */
export function useProject(id: string | null): void {
  visited = id;
}

/** Send a request below the project's address. Raises ApiError. */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const response = await send(
    method,
    `/console/api/v1/${encodeURIComponent(visited ?? settings.project)}${path}${queryOf(options.query)}`,
    options,
  );
  if (response.status === 401) settings.onExpired();
  if (response.headers.get(SESSION_HEADER) === "changed") settings.onChanged();
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** Send a request and return the answer's JSON; null for an answer without, which may be a page. */
export async function json<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await request(method, path, options);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return (text && isJson ? JSON.parse(text) : null) as T;
}

/** Send a request to an address of the console itself. */
export async function send(method: string, url: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { ...OWN, ...options.headers };
  if (settings.session && url !== "/console/session") headers[SESSION_HEADER] = settings.session;
  const init: RequestInit = { method, headers, credentials: "same-origin", redirect: "error" };
  if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  if (options.signal) init.signal = options.signal;
  try {
    const response = await fetch(url, init);
    isReachable.value = true;
    return response;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    isReachable.value = false;
    throw new ApiError(0, "The service does not answer.", null);
  }
}

function queryOf(query: Query = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const each of value) pairs.append(name, each);
    else if (value !== undefined) pairs.append(name, String(value));
  }
  const text = pairs.toString();
  return text ? `?${text}` : "";
}

/** Return the path of a stack. Names and ids are encoded. */
export function stackPath(name: string, id: string): string {
  return `/stacks/${encodeURIComponent(name)}/${encodeURIComponent(id)}`;
}
