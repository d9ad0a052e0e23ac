/** Outputs and parameters of a stack. */

import type { JSX } from "preact";
import { json } from "../api/client";
import type { Output } from "../api/types";
import { t } from "../i18n";
import { useRead } from "../model/hooks";
import { textOf, visible } from "../model/text";
import { Copy, Empty, Failure, Loading, Text, Value } from "../widgets/basics";
import type { ViewProps } from "./stack";

export function Outputs({ live }: ViewProps): JSX.Element {
  const status = live.stack.value?.stack_status;
  const read = useRead(
    (signal) => json<{ stack: { outputs?: Output[] } }>("GET", live.path, { signal }),
    [live.path, status],
  );
  if (read.error) return <Failure error={read.error} retry={read.reload} />;
  if (!read.value) return <Loading />;
  const outputs = read.value.stack.outputs ?? [];
  if (outputs.length === 0) {
    return (
      <Empty title={t("outputs.empty")}>
        <p>{t("outputs.hint")}</p>
      </Empty>
    );
  }
  return (
    <dl class="pairs">
      {outputs.map((each) => (
        <div key={each.output_key}>
          <dt>
            {visible(each.output_key)}
            {each.description && (
              <span class="hint">
                <Text value={each.description} />
              </span>
            )}
          </dt>
          <dd>
            {each.output_error ? (
              <span class="warning">{t("outputs.error", { reason: visible(each.output_error) })}</span>
            ) : (
              <>
                <Linked value={each.output_value} />
                <Copy value={textOf(each.output_value)} />
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Return whether a text is an address of the web, and looks like the one it is. */
function isPlainAddress(text: string): boolean {
  if (text.length > 2000 || !/^https?:\/\/[^\s"'<>]+$/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return !url.username && !url.password && visible(text) === text;
}

/** A value that is an address of the web becomes a link; all else is text. */
function Linked({ value }: { value: unknown }): JSX.Element {
  if (typeof value === "string" && isPlainAddress(value)) {
    return (
      <a href={value} target="_blank" rel="noopener noreferrer">
        {visible(value)} <span class="hidden">({t("app.newWindow")})</span>
      </a>
    );
  }
  return <Value value={value} />;
}

export function Parameters({ live }: ViewProps): JSX.Element {
  const parameters = Object.entries(live.stack.value?.parameters ?? {});
  if (parameters.length === 0) return <Empty title={t("parameters.empty")} />;
  return (
    <dl class="pairs">
      {parameters.map(([name, value]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            <Value value={value} />
            <Copy value={textOf(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
