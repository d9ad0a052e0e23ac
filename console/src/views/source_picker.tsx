/** The choice of a template: files, a folder, a URL, or the present template of a stack. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { dropped, read as readFiles } from "../model/dropped";
import { EMPTY, type Source, withFiles } from "../model/source_choice";
import { environmentsIn, templatesIn } from "../model/sources";
import { visible } from "../model/text";
import { Failure, Field } from "../widgets/basics";

interface PickerProps {
  source: Source;
  /** The source without any choice. */
  initial: Source;
  onChange: (source: Source) => void;
}

export function SourcePicker({ source, initial, onChange }: PickerProps): JSX.Element {
  const [isOver, setOver] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const picker = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = async (files: Iterable<File>): Promise<void> => {
    try {
      const found = await readFiles(files);
      setError(null);
      if (found.size > 0) onChange(withFiles(source === EMPTY ? { ...EMPTY } : source, found));
    } catch (refused) {
      setError(refused);
    }
  };
  useEffect(() => folder.current?.setAttribute("webkitdirectory", ""), []);
  return (
    <fieldset
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer) void dropped(event.dataTransfer).then(take);
      }}
    >
      <legend>{t("launch.source")}</legend>
      <p>{t("launch.drop")}</p>
      <p class="buttons start">
        <button type="button" onClick={() => picker.current?.click()}>
          {t("launch.files")}
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          {t("launch.folder")}
        </button>
        {source !== initial && (
          <button type="button" onClick={() => onChange(initial)}>
            {t("launch.reset")}
          </button>
        )}
      </p>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t("launch.files")}
        onChange={(e) => void take(e.currentTarget.files ?? [])}
      />
      <input
        ref={folder}
        type="file"
        multiple
        hidden
        aria-label={t("launch.folder")}
        onChange={(e) => void take(e.currentTarget.files ?? [])}
      />
      {error !== null && <Failure error={error} />}
      {source.kind === "chosen" && <Chosen source={source} onChange={onChange} />}
      <Field label={t("launch.url")} hint={t("launch.urlHint")}>
        <input
          type="url"
          value={source.kind === "url" ? source.url : ""}
          placeholder="https://"
          onInput={(e) => {
            const url = e.currentTarget.value;
            onChange(url ? { kind: "url", url } : initial);
          }}
        />
      </Field>
    </fieldset>
  );
}

interface ChosenProps {
  source: Extract<Source, { kind: "chosen" }>;
  onChange: (source: Source) => void;
}

/** Which of the chosen files is the main template, and which are environments. */
function Chosen({ source, onChange }: ChosenProps): JSX.Element {
  const templates = useMemo(() => templatesIn(source.files), [source.files]);
  const environments = useMemo(() => environmentsIn(source.files), [source.files]);
  const choose = (name: string, isChosen: boolean): void => {
    const others = source.environments.filter((each) => each !== name);
    onChange({ ...source, environments: isChosen ? [...others, name] : others });
  };
  return (
    <>
      {templates.length > 1 && (
        <Field label={t("launch.mainFile")}>
          <select value={source.main} onChange={(e) => onChange({ ...source, main: e.currentTarget.value })}>
            {templates.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
      )}
      {environments.length > 0 && (
        <div class="environments">
          <p class="field-label">{t("launch.environments")}</p>
          {environments.map((each) => (
            <label key={each} class="check">
              <input
                type="checkbox"
                checked={source.environments.includes(each)}
                onChange={(e) => choose(each, e.currentTarget.checked)}
              />
              {visible(each)}
            </label>
          ))}
        </div>
      )}
    </>
  );
}
