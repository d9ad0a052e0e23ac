/** Theme and language, kept in the browser. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { chooseLanguage, LANGUAGES, type Language, language, t } from "../i18n";

type Theme = "system" | "light" | "dark";
const STORED = "stoker.theme";

export const theme = signal<Theme>((localStorage.getItem(STORED) as Theme | null) ?? "system");

/** Apply the stored theme to the document. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

function chooseTheme(chosen: Theme): void {
  localStorage.setItem(STORED, chosen);
  theme.value = chosen;
  applyTheme();
}

export function Preferences(): JSX.Element {
  return (
    <div class="preferences">
      <label>
        {t("app.theme")}{" "}
        <select value={theme.value} onChange={(e) => chooseTheme(e.currentTarget.value as Theme)}>
          <option value="system">{t("app.themeSystem")}</option>
          <option value="light">{t("app.themeLight")}</option>
          <option value="dark">{t("app.themeDark")}</option>
        </select>
      </label>
      <label>
        {t("app.language")}{" "}
        <select value={language.value} onChange={(e) => chooseLanguage(e.currentTarget.value as Language)}>
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code === "zh" ? "zh-CN" : code}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
