/** A form for the parameters of a template, from their types, constraints and defaults. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { json } from "../api/client";
import type { ParameterSchema, Validated } from "../api/types";
import { t } from "../i18n";
import { type Entries, type Entry, withEntry } from "../model/parameter_entries";
import { shortened, textOf, visible } from "../model/text";
import { Text } from "../widgets/basics";

interface FormProps {
  schemas: Record<string, ParameterSchema>;
  groups: NonNullable<Validated["ParameterGroups"]>;
  /** Values of the existing stack; null for a new one. */
  current: Record<string, unknown> | null;
  entries: Entries;
  onChange: (entries: Entries) => void;
}

export function ParameterForm({ schemas, groups, current, entries, onChange }: FormProps): JSX.Element {
  const grouped = new Set(groups.flatMap((each) => each.parameters));
  const rest = Object.keys(schemas).filter((name) => !grouped.has(name));
  const field = (name: string): JSX.Element | null => {
    const schema = schemas[name];
    if (!schema) return null;
    return (
      <ParameterField
        key={name}
        name={name}
        schema={schema}
        current={current ? current[name] : undefined}
        isNew={current === null}
        entry={entries[name] ?? null}
        onChange={(entry) => onChange(withEntry(entries, name, entry))}
      />
    );
  };
  return (
    <>
      {groups.map((each) => (
        <fieldset key={each.label ?? each.parameters.join()}>
          <legend>{visible(each.label ?? "")}</legend>
          {each.description && <p class="hint">{visible(each.description)}</p>}
          {each.parameters.map(field)}
        </fieldset>
      ))}
      {rest.map(field)}
    </>
  );
}

interface FieldProps {
  name: string;
  schema: ParameterSchema;
  current: unknown;
  isNew: boolean;
  entry: Entry | null;
  onChange: (entry: Entry | null) => void;
}

function ParameterField({ name, schema, current, isNew, entry, onChange }: FieldProps): JSX.Element {
  const hasDefault = schema.Default !== undefined;
  // The value of an environment; validation also returns the one that was entered here.
  const given = entry === null ? schema.Value : undefined;
  const before = textOf(current ?? given ?? schema.Default);
  const isRequired = current === undefined && given === undefined && !hasDefault && entry === null;
  const id = `parameter-${name}`;
  const isDefault = entry?.kind === "default";
  const isEmpty = entry?.kind === "value" && entry.text === "";
  const isText = schema.Type === "String" || schema.Type === "CommaDelimitedList";
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {visible(schema.Label ?? name)} {isRequired && <span class="muted">({t("launch.required")})</span>}
      </label>
      <Input
        id={id}
        schema={schema}
        text={entry?.kind === "value" ? entry.text : ""}
        isRequired={isRequired}
        placeholder={isDefault ? textOf(schema.Default) : isEmpty ? "" : before}
        onChange={(text) => onChange(text === "" ? null : { kind: "value", text })}
      />
      <span class="buttons start small">
        {isText && before !== "" && (
          <label class="check">
            <input
              type="checkbox"
              checked={isEmpty}
              onChange={() => onChange(isEmpty ? null : { kind: "value", text: "" })}
            />
            {t("launch.empty")}
          </label>
        )}
        {!isNew && hasDefault && textOf(schema.Default) !== textOf(current) && (
          <label class="check">
            <input
              type="checkbox"
              checked={isDefault}
              onChange={() => onChange(isDefault ? null : { kind: "default" })}
            />
            {t("launch.useDefault", { value: visible(shortened(textOf(schema.Default), 60)) })}
          </label>
        )}
      </span>
      {schema.Description && (
        <span class="hint">
          <Text value={schema.Description} />
        </span>
      )}
      {schema.ConstraintDescription && <span class="hint">{visible(schema.ConstraintDescription)}</span>}
    </div>
  );
}

interface InputProps {
  id: string;
  schema: ParameterSchema;
  text: string;
  isRequired: boolean;
  placeholder: string;
  onChange: (text: string) => void;
}

function Input({ id, schema, text, isRequired, placeholder, onChange }: InputProps): JSX.Element {
  const choices = useChoices(schema.CustomConstraint);
  const [hasLines, setLines] = useState(/\n/.test(placeholder));
  const allowed =
    schema.AllowedValues?.map((each) => textOf(each)) ??
    (schema.Type === "Boolean" ? ["true", "false"] : null);
  const common = { id, required: isRequired, value: text };
  const isHidden = schema.NoEcho === "true";
  if (allowed) {
    return (
      <select {...common} onChange={(e) => onChange(e.currentTarget.value)}>
        <option value="">{placeholder ? t("launch.default", { value: placeholder }) : "–"}</option>
        {allowed.map((each) => (
          <option key={each} value={each}>
            {visible(each)}
          </option>
        ))}
      </select>
    );
  }
  if (schema.Type === "Json" || schema.Type === "CommaDelimitedList" || hasLines) {
    return (
      <textarea
        {...common}
        class={isHidden ? "masked" : undefined}
        rows={3}
        placeholder={isHidden ? "" : placeholder}
        onInput={(e) => onChange(e.currentTarget.value)}
      />
    );
  }
  const paste = (event: ClipboardEvent): void => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (!/\r?\n./.test(pasted)) return;
    // A field of one line would drop the line breaks, of a key for example.
    event.preventDefault();
    setLines(true);
    onChange(pasted);
  };
  return (
    <>
      <input
        {...common}
        type={typeOf(schema)}
        step="any"
        min={schema.MinValue}
        max={schema.MaxValue}
        minLength={schema.MinLength}
        maxLength={schema.MaxLength}
        placeholder={isHidden ? "" : placeholder}
        autoComplete={isHidden ? "new-password" : "off"}
        list={choices.length ? `${id}-choices` : undefined}
        onPaste={paste}
        onInput={(e) => onChange(e.currentTarget.value)}
      />
      {choices.length > 0 && (
        <datalist id={`${id}-choices`}>
          {choices.map((each) => (
            <option key={each.id} value={each.name || each.id} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** Return the type of an input. Its declared type is the one whose attributes include those of all. */
function typeOf(schema: ParameterSchema): "text" {
  if (schema.NoEcho === "true") return "password" as "text";
  return (schema.Type === "Number" ? "number" : "text") as "text";
}

interface Choice {
  id: string;
  name: string;
}

/** Return the objects of the cloud that a custom constraint accepts. */
function useChoices(constraint: string | undefined): readonly Choice[] {
  const [found, setFound] = useState<readonly Choice[]>([]);
  useEffect(() => {
    if (!constraint) return;
    const ended = new AbortController();
    json<{ choices: Choice[] }>("GET", `/constraint_choices/${encodeURIComponent(constraint)}`, {
      signal: ended.signal,
    }).then(
      (answer) => setFound(answer.choices),
      () => {}, // Without suggestions the field still takes any value.
    );
    return () => ended.abort();
  }, [constraint]);
  return found;
}
