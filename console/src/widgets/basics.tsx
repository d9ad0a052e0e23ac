/** Small parts that every view uses. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/errors";
import { type Key, language, t } from "../i18n";
import { type Look, lookOf } from "../model/statuses";
import { shortened, textOf, visible } from "../model/text";
import { href } from "../router";

// A sign for each look, so that colour is never the only difference.
export const SIGNS: Record<Look, string> = {
  done: "✓",
  working: "◐",
  failed: "✕",
  waiting: "○",
  gone: "–",
  idle: "‖",
};

export function Status({ value, short = false }: { value: string; short?: boolean }): JSX.Element {
  const look = lookOf(value);
  return (
    <span class={`status ${look}`} title={value}>
      <span class="sign" aria-hidden="true">
        {SIGNS[look]}
      </span>
      <span>{short ? t(`status.${look}` as Key) : value}</span>
    </span>
  );
}

/** Text of users or of the cloud: control characters visible, and not longer than a few lines. */
export function Text({ value, most = 400 }: { value: string; most?: number }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  if (value.length <= most) return <span class="text">{visible(value)}</span>;
  return (
    <span class="text">
      {visible(isWhole ? value : shortened(value, most))}{" "}
      <button type="button" class="link" onClick={() => setWhole(!isWhole)}>
        {isWhole ? t("app.showLess") : t("app.showAll", { n: value.length })}
      </button>
    </span>
  );
}

/** A value of any kind; objects as JSON. */
export function Value({ value, most = 2000 }: { value: unknown; most?: number }): JSX.Element {
  const text = textOf(value);
  if (!text) return <span class="muted">{t("app.none")}</span>;
  const isBlock = text.includes("\n") || text.length > 120;
  return isBlock ? (
    <pre class="value" tabIndex={0}>
      <Text value={text} most={most} />
    </pre>
  ) : (
    <Text value={text} most={most} />
  );
}

export function Time({ value }: { value: string | number | null | undefined }): JSX.Element | null {
  if (value === null || value === undefined || value === "") return null;
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return <span>{String(value)}</span>;
  const isToday = date.toDateString() === new Date().toDateString();
  const options: Intl.DateTimeFormatOptions = isToday
    ? { timeStyle: "medium" }
    : { dateStyle: "medium", timeStyle: "medium" };
  return (
    <time dateTime={date.toISOString()} title={`${date.toISOString()} (UTC)`}>
      {new Intl.DateTimeFormat(language.value === "zh" ? "zh-CN" : undefined, options).format(date)}
    </time>
  );
}

export function Copy({ value }: { value: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <button
      type="button"
      class="copy"
      aria-label={isCopied ? t("app.copied") : `${t("app.copy")} ${shortened(value, 60)}`}
      onClick={() => navigator.clipboard.writeText(value).then(() => setCopied(true))}
    >
      <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
        {isCopied ? <path d="M3 8.5l3.2 3.2L13 5" /> : <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />}
      </svg>
    </button>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }): JSX.Element {
  const message = error instanceof Error ? error.message : String(error);
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div class="failure" role="alert">
      <p>
        <Text value={message} most={1500} />
      </p>
      {requestId && (
        <p class="muted">
          {t("app.requestId", { id: requestId })} <Copy value={requestId} />
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          {t("app.retry")}
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading(): JSX.Element {
  return (
    <p class="loading" role="status">
      {t("app.loading")}
    </p>
  );
}

interface LinkProps {
  to: string;
  class?: string;
  children: ComponentChildren;
  current?: boolean;
}

export function A({ to, class: name, children, current }: LinkProps): JSX.Element {
  return (
    <a href={href(to)} class={name} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}

export function Field(props: { label: string; hint?: string; children: ComponentChildren }): JSX.Element {
  return (
    <label class="field">
      <span class="field-label">{props.label}</span>
      {props.children}
      {props.hint && <span class="hint">{props.hint}</span>}
    </label>
  );
}
