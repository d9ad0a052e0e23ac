/** Texts of the page in the user's language. */

import { signal } from "@preact/signals";
import { en } from "./en";
import { zh } from "./zh";

export type Key = keyof typeof en;
export type Language = "en" | "zh";

export const LANGUAGES: Record<Language, string> = { en: "English", zh: "简体中文" };
const MESSAGES: Record<Language, Record<Key, string>> = { en, zh };
const STORED = "stoker.language";

function preferred(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === "en" || stored === "zh") return stored;
  return navigator.languages?.some((each) => each.toLowerCase().startsWith("zh")) ? "zh" : "en";
}

export const language = signal<Language>(preferred());

export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(STORED, chosen);
  language.value = chosen;
  document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
}

/** Return a text; `{name}` in it is replaced by that value. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  const text = MESSAGES[language.value][key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
