/** The page around all views: session, navigation, connection. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isReachable, useProject } from "./api/client";
import {
  hasChanged,
  hasExpired,
  load,
  type Session,
  session,
  signIn,
  signOut,
  switchProject,
} from "./api/session";
import { t } from "./i18n";
import { useInterval } from "./model/hooks";
import { problem, reported } from "./model/problems";
import { visible } from "./model/text";
import { address, go, onLink } from "./router";
import { Menu } from "./views/actions";
import { Launch } from "./views/launch";
import { Operators } from "./views/operators";
import { Preferences } from "./views/preferences";
import { SignIn } from "./views/sign_in";
import { Missing, StackPage } from "./views/stack";
import { Stacks } from "./views/stacks";
import { A, Failure, Loading } from "./widgets/basics";

const WARN_MS = 10 * 60 * 1000;

export function App(): JSX.Element {
  const [fault, setFault] = useState<unknown>(null);
  const [isStarting, setStarting] = useState(true);
  const start = (): void => {
    setFault(null);
    openSession()
      .catch(setFault)
      .finally(() => setStarting(false));
  };
  useEffect(start, []);
  if (isStarting) return <Loading />;
  if (session.value === undefined) return <Failure error={fault} retry={start} />;
  if (session.value) last = session.value;
  const current = session.value ?? (hasExpired.value ? last : null);
  if (!current) return <SignIn problem={fault} />;
  // After an expiry the page stays, hidden, with all that the user has entered.
  return (
    <>
      {session.value === null && <SignIn problem={null} />}
      <div class={session.value === null ? "absent" : "present"} inert={session.value === null}>
        <Shell current={current} />
      </div>
    </>
  );
}

let last: Session | null = null;

/** Read the session, or sign in with the one-time ticket of `stoker open`. */
async function openSession(): Promise<void> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const ticket = fragment.get("ticket");
  if (!ticket) {
    await load();
    return;
  }
  const next = fragment.get("next");
  const present = await load();
  // The ticket must not stay in the address, nor in the history.
  go(next?.startsWith("/") && !next.startsWith("//") ? next : "/stacks", { replace: true });
  // The link of another person must not change the account of a user who is signed in.
  if (present && !confirm(t("signIn.replaceSession", { name: present.user.name }))) return;
  try {
    await signIn({ ticket });
  } catch {
    session.value = null;
    throw new Error(t("signIn.linkUsed"));
  }
}

function Shell({ current }: { current: Session }): JSX.Element {
  return (
    <div class="shell" onClick={onLink}>
      <a class="skip" href="#content">
        {t("app.skip")}
      </a>
      <Header current={current} />
      <Notices current={current} />
      <Page key={`${current.user.id} ${current.project.id}`} current={current} />
    </div>
  );
}

function Header({ current }: { current: Session }): JSX.Element {
  const path = address.value.path;
  const region = current.regions.find((each) => each.is_current);
  return (
    <header class="top">
      <A to="/stacks" class="brand">
        <img src="/console/icon.svg" alt="" width="24" height="24" /> Stoker
      </A>
      <nav aria-label={t("nav.main")}>
        <A to="/stacks" current={path.startsWith("/stacks") || path === "/"}>
          {t("nav.stacks")}
        </A>
        {current.is_admin && (
          <A to="/operators" current={path === "/operators"}>
            {t("nav.operators")}
          </A>
        )}
      </nav>
      <span class="grow" />
      <label class="choice">
        <span>{t("nav.project")}</span>{" "}
        <select
          value={current.project.id}
          onChange={(e) => {
            const id = e.currentTarget.value;
            reported(switchProject(id).then(() => go("/stacks")));
          }}
        >
          {current.projects.map((each) => (
            <option key={each.id} value={each.id}>
              {visible(each.name)}
            </option>
          ))}
        </select>
      </label>
      {current.regions.length > 1 && (
        <label class="choice">
          <span>{t("nav.region")}</span>{" "}
          <select
            value={region?.name ?? ""}
            onChange={(e) => {
              const chosen = current.regions.find((each) => each.name === e.currentTarget.value);
              if (chosen) location.assign(chosen.url);
            }}
          >
            {current.regions.map((each) => (
              <option key={each.name}>{visible(each.name)}</option>
            ))}
          </select>
        </label>
      )}
      <Menu label={visible(current.user.name)} isGroup>
        {() => (
          <>
            <Preferences />
            <button type="button" onClick={() => reported(signOut())}>
              {t("nav.signOut")}
            </button>
          </>
        )}
      </Menu>
    </header>
  );
}

function Notices({ current }: { current: Session }): JSX.Element {
  const [now, setNow] = useState(Date.now());
  useInterval(() => setNow(Date.now()), 20_000);
  const left = Date.parse(current.expires_at) - now;
  useEffect(() => {
    if (left <= 0) void load();
  }, [left <= 0]);
  return (
    <div aria-live="polite">
      {!isReachable.value && <p class="notice bad">{t("app.lost")}</p>}
      {problem.value !== null && <Failure error={problem.value} />}
      {hasChanged.value && (
        <p class="notice">
          {t("session.changed", { user: current.user.name, project: current.project.name })}{" "}
          <button
            type="button"
            onClick={() => {
              hasChanged.value = false;
            }}
          >
            {t("app.close")}
          </button>
        </p>
      )}
      {left < WARN_MS && left > 0 && (
        <p class="notice">{t("session.endsSoon", { minutes: Math.max(1, Math.round(left / 60_000)) })}</p>
      )}
    </div>
  );
}

const STACK = /^(?:\/projects\/([^/]+))?\/stacks\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/;

function Page({ current }: { current: Session }): JSX.Element {
  const path = address.value.path;
  const isRoot = path === "/";
  const stack = STACK.exec(path);
  useProject(stack?.[1] ? decoded(stack[1]) : null);
  useEffect(() => {
    if (isRoot) go("/stacks", { replace: true });
  }, [isRoot]);
  useEffect(() => {
    const name = STACK.exec(path)?.[2];
    document.title = name ? `${visible(decoded(name))} · Stoker` : "Stoker";
  }, [path]);
  if (isRoot || path === "/stacks") return <Stacks />;
  if (path === "/stacks/new") return <Launch stack={null} />;
  if (path === "/operators" && current.is_admin) return <Operators />;
  if (!stack) return <Missing />;
  const [name, id, view] = [decoded(stack[2] ?? ""), decoded(stack[3] ?? ""), stack[4] ?? "graph"];
  if (view === "update") return <Launch key={id} stack={{ name, id }} />;
  return <StackPage key={id} name={name} id={id} view={view} />;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
