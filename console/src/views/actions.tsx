/** Actions on a stack. Each states its effect first; destructive ones ask for the stack's name. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { json } from "../api/client";
import { ApiError } from "../api/errors";
import type { Stack, UpdatePreview } from "../api/types";
import { type Key, t } from "../i18n";
import { useRead } from "../model/hooks";
import type { LiveStack } from "../model/live";
import { reported } from "../model/problems";
import { split } from "../model/statuses";
import { go, stackPage } from "../router";
import { A, Failure, Loading } from "../widgets/basics";
import { Confirm } from "../widgets/dialog";
import { save } from "./download";
import { PlanTree } from "./plan";

type Action = "suspend" | "resume" | "check" | "cancel" | "stop" | "delete" | "abandon";
const API_NAMES: Partial<Record<Action, string>> = {
  suspend: "suspend",
  resume: "resume",
  check: "check",
  cancel: "cancel_update",
  stop: "cancel_without_rollback",
};

/** Return the actions that are possible in a state of the stack. */
export function possible(stackStatus: string): Action[] {
  const { action, status } = split(stackStatus);
  if (status === "IN_PROGRESS") {
    if (action === "UPDATE") return ["cancel", "stop", "delete"];
    return action === "CREATE" ? ["stop", "delete"] : ["delete"];
  }
  if (action === "DELETE" && status === "COMPLETE") return [];
  if (action === "SUSPEND" && status === "COMPLETE") return ["resume", "abandon", "delete"];
  return ["suspend", "check", "abandon", "delete"];
}

/** Return whether a stack in this state can be updated. */
export function isUpdatable(stackStatus: string): boolean {
  return !["DELETE_COMPLETE", "DELETE_IN_PROGRESS", "SUSPEND_COMPLETE"].includes(stackStatus);
}

export function Actions({ live, stack }: { live: LiveStack; stack: Stack }): JSX.Element {
  const [chosen, choose] = useState<Action | null>(null);
  const base = stackPage({ name: stack.stack_name, id: stack.id });
  return (
    <>
      {isUpdatable(stack.stack_status) && (
        <A to={`${base}/update`} class="button primary">
          {t("stack.update")}
        </A>
      )}
      <Menu label={t("stack.actions")}>
        {(close) => (
          <>
            {possible(stack.stack_status).map((each) => (
              <button
                type="button"
                role="menuitem"
                key={each}
                class={each === "delete" ? "dangerous" : undefined}
                onClick={() => {
                  close();
                  choose(each);
                }}
              >
                {t(`action.${each}` as Key)}
              </button>
            ))}
            <button
              type="button"
              role="menuitem"
              onClick={() => {
                close();
                reported(
                  json("GET", `${live.path}/export`).then((document) =>
                    save(document, `${stack.stack_name}.json`),
                  ),
                );
              }}
            >
              {t("action.export")}
            </button>
          </>
        )}
      </Menu>
      {chosen && <Ask action={chosen} live={live} stack={stack} onClose={() => choose(null)} />}
    </>
  );
}

interface AskProps {
  action: Action;
  live: LiveStack;
  stack: Stack;
  onClose: () => void;
}

function Ask({ action, live, stack, onClose }: AskProps): JSX.Element {
  const title = `${t(`action.${action}` as Key)}: ${stack.stack_name}`;
  if (action === "delete") return <AskDelete title={title} live={live} stack={stack} onClose={onClose} />;
  const confirm = async (): Promise<void> => {
    if (action === "abandon") {
      save(await json("DELETE", `${live.path}/abandon`), `${stack.stack_name}.json`);
      go("/stacks");
      return;
    }
    await json("POST", `${live.path}/actions`, { body: { [API_NAMES[action] as string]: null } });
  };
  const typed = action === "abandon" ? { typed: stack.stack_name } : {};
  return (
    <Confirm
      title={title}
      effect={t(`action.${action}Effect` as Key)}
      onConfirm={confirm}
      onClose={onClose}
      {...typed}
    />
  );
}

/** A delete shows its plan, and is refused if that no longer holds. */
function AskDelete({
  title,
  live,
  stack,
  onClose,
}: Omit<AskProps, "action"> & { title: string }): JSX.Element {
  const plan = useRead(
    (signal) =>
      json<UpdatePreview>("DELETE", `${live.path}/preview`, {
        query: { fingerprint: true, warnings: true },
        signal,
      }),
    [live.path],
  );
  const [isStale, setStale] = useState(false);
  const deleted = plan.value?.resource_changes.deleted ?? [];
  const effect = (
    <>
      {plan.value && <p>{t("action.deleteEffect", { n: deleted.length })}</p>}
      <p class="muted">{t("action.deleteKeeps")}</p>
      {plan.error !== null && <Failure error={plan.error} />}
      {plan.value ? <PlanTree changes={plan.value.resource_changes} /> : plan.error === null && <Loading />}
      {(plan.value?.warnings ?? []).map((each) => (
        <p class="warning" key={each.path.join("/")}>
          {each.path.join(" / ")}: {each.message}
        </p>
      ))}
      {isStale && (
        <button
          type="button"
          onClick={() => {
            setStale(false);
            plan.reload();
          }}
        >
          {t("launch.again")}
        </button>
      )}
    </>
  );
  const confirm = async (): Promise<void> => {
    const fingerprint = plan.value?.plan_fingerprint;
    try {
      await json("DELETE", live.path, fingerprint ? { query: { plan_fingerprint: fingerprint } } : {});
    } catch (error) {
      setStale(error instanceof ApiError && error.status === 409);
      throw error;
    }
  };
  return (
    <Confirm
      title={title}
      effect={effect}
      typed={stack.stack_name}
      isReady={plan.value !== undefined || plan.error !== null}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}

interface MenuProps {
  label: string;
  /** Whether it also holds what is no action: then it is a group with a button, not a menu. */
  isGroup?: boolean;
  children: (close: () => void) => ComponentChildren;
}

/** A menu button, with the keys that menus have. */
export function Menu({ label, isGroup = false, children }: MenuProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>("[role=menuitem], select")?.focus();
    const outside = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>("button")?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    const items = [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") items[(at + 1) % items.length]?.focus();
    else if (event.key === "ArrowUp") items[(at - 1 + items.length) % items.length]?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <div
      class="menu"
      ref={root}
      onKeyDown={onKey}
      onFocusOut={(event) => {
        const to = event.relatedTarget as Node | null;
        if (to && !root.current?.contains(to)) setOpen(false);
      }}
    >
      <button
        type="button"
        aria-haspopup={isGroup ? undefined : "menu"}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {label} ▾
      </button>
      {isOpen && (
        <div role={isGroup ? "group" : "menu"} class="menu-items" aria-label={label} tabIndex={-1}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
