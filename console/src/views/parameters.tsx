/** A form for the parameters of a template, from their types, constraints and defaults. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { json } from "../api/client";
import type { ParameterSchema, Validated } from "../api/types";
import { t } from "../i18n";
import { textOf, visible } from "../model/text";
import { Text } from "../widgets/basics";

interface FormProps {
  schemas: Record<string, ParameterSchema>;
  groups: NonNullable<Validated["ParameterGroups"]>;
  /** Values of the existing stack. */
  current: Record<string, unknown>;
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
}

export function ParameterForm({ schemas, groups, current, values, onChange }: FormProps): JSX.Element {
  const grouped = new Set(groups.flatMap((each) => each.parameters));
  const rest = Object.keys(schemas).filter((name) => !grouped.has(name));
  const field = (name: string): JSX.Element | null => {
    const schema = schemas[name];
    if (!schema) return null;
    const set = (value: string): void => {
      const next = { ...values };
      if (value === "") delete next[name];
      else next[name] = value;
      onChange(next);
    };
    return (
      <ParameterField
        key={name}
        name={name}
        schema={schema}
        current={current[name]}
        value={values[name] ?? ""}
        onChange={set}
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
  value: string;
  onChange: (value: string) => void;
}

function ParameterField({ name, schema, current, value, onChange }: FieldProps): JSX.Element {
  const before = current !== undefined ? textOf(current) : textOf(schema.Default ?? schema.Value);
  const isRequired = current === undefined && schema.Default === undefined && schema.Value === undefined;
  const id = `parameter-${name}`;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {visible(schema.Label ?? name)} {isRequired && <span class="muted">({t("launch.required")})</span>}
      </label>
      <Input
        id={id}
        schema={schema}
        value={value}
        isRequired={isRequired}
        placeholder={before}
        onChange={onChange}
      />
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
  value: string;
  isRequired: boolean;
  placeholder: string;
  onChange: (value: string) => void;
}

function Input({ id, schema, value, isRequired, placeholder, onChange }: InputProps): JSX.Element {
  const choices = useChoices(schema.CustomConstraint);
  const allowed =
    schema.AllowedValues?.map((each) => textOf(each)) ??
    (schema.Type === "Boolean" ? ["true", "false"] : null);
  const common = { id, required: isRequired, value };
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
  if (schema.Type === "Json" || schema.Type === "CommaDelimitedList" || /\n/.test(placeholder)) {
    return (
      <textarea
        {...common}
        rows={3}
        placeholder={placeholder}
        onInput={(e) => onChange(e.currentTarget.value)}
      />
    );
  }
  const isHidden = schema.NoEcho === "true";
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
