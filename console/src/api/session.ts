/** The session of the user: sign-in, project, sign-out. */

import { signal } from "@preact/signals";
import { configure, send } from "./client";
import { type ApiError, errorOf } from "./errors";

export interface Session {
  /** Changes with each sign-in and each change of project. */
  id?: string;
  user: { id: string; name: string };
  project: { id: string; name: string };
  roles: string[];
  is_admin: boolean;
  expires_at: string;
  projects: { id: string; name: string; domain_id?: string }[];
  regions: { name: string; url: string; is_current: boolean }[];
  version: string;
  links: { horizon: string | null; skyline: string | null };
}

export type Credentials =
  | { user: string; password: string; user_domain: string; project?: string; project_domain?: string }
  | { application_credential_id: string; secret: string }
  | { token: string; project?: string }
  | { ticket: string };

/** undefined before the service has answered, null if nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether the session ended without a sign-out. */
export const hasExpired = signal(false);

function opened(found: Session | null): Session | null {
  if (found) {
    hasExpired.value = false;
    configure({
      project: found.project.id,
      session: found.id ?? null,
      onExpired: expire,
      onChanged: changed,
    });
  }
  session.value = found;
  return found;
}

/** Whether another tab has changed the session. */
export const hasChanged = signal(false);

/** Show the page of the session that another tab has opened, and say so. */
function changed(): void {
  if (hasChanged.value) return;
  hasChanged.value = true;
  void load();
}

function expire(): void {
  if (session.value) hasExpired.value = true;
  session.value = null;
}

/** Read the session of the cookie. Raises ApiError if the service does not answer. */
export async function load(): Promise<Session | null> {
  const response = await send("GET", "/console/session");
  if (response.status === 401) {
    await response.text(); // an answer that is not read keeps its connection
    return opened(null);
  }
  if (!response.ok) throw await errorOf(response);
  return opened(await response.json());
}

/** Sign in. Raises ApiError. */
export async function signIn(credentials: Credentials): Promise<Session | null> {
  return opened(await answer(await send("POST", "/console/session", { body: credentials })));
}

/** Continue in another project. Raises ApiError. */
export async function switchProject(id: string): Promise<void> {
  opened(await answer(await send("POST", "/console/session/project", { body: { project_id: id } })));
}

/** Sign out: the token is revoked. */
export async function signOut(): Promise<void> {
  await send("DELETE", "/console/session");
  hasExpired.value = false;
  session.value = null;
}

async function answer(response: Response): Promise<Session> {
  if (!response.ok) throw (await errorOf(response)) as ApiError;
  return response.json();
}
