/** Sign-in by password, application credential or token. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Credentials, hasExpired, signIn } from "../api/session";
import { type Key, t } from "../i18n";
import { Failure, Field } from "../widgets/basics";
import { Preferences } from "./preferences";

type Method = "password" | "credential" | "token";
const METHODS: Method[] = ["password", "credential", "token"];

function credentialsOf(method: Method, form: FormData): Credentials {
  const text = (name: string): string => String(form.get(name) ?? "").trim();
  const project = text("project") ? { project: text("project") } : {};
  if (method === "token") return { token: text("token"), ...project };
  if (method === "credential") {
    return { application_credential_id: text("credential"), secret: String(form.get("secret") ?? "") };
  }
  return {
    user: text("user"),
    password: String(form.get("password") ?? ""),
    user_domain: text("domain") || "Default",
    ...project,
  };
}

export function SignIn({ problem }: { problem: unknown }): JSX.Element {
  const [method, setMethod] = useState<Method>("password");
  const [error, setError] = useState<unknown>(problem);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await signIn(credentialsOf(method, new FormData(event.currentTarget as HTMLFormElement)));
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <main class="sign-in" id="content">
      <h1>
        <img src="/console/icon.svg" alt="" width="36" height="36" /> Stoker
      </h1>
      {hasExpired.value && (
        <p class="notice" role="status">
          {t("signIn.expired")}
        </p>
      )}
      <form onSubmit={submit} aria-label={t("signIn.title")}>
        <fieldset class="tabs">
          <legend class="hidden">{t("signIn.method")}</legend>
          {METHODS.map((each) => (
            <label key={each} class={each === method ? "tab current" : "tab"}>
              <input type="radio" name="method" checked={each === method} onChange={() => setMethod(each)} />
              {t(`signIn.${each}Tab` as Key)}
            </label>
          ))}
        </fieldset>
        {method === "password" && (
          <>
            <Field label={t("signIn.user")}>
              <input name="user" autoComplete="username" required />
            </Field>
            <Field label={t("signIn.password")}>
              <input name="password" type="password" autoComplete="current-password" required />
            </Field>
            <Field label={t("signIn.domain")}>
              <input name="domain" defaultValue="Default" />
            </Field>
          </>
        )}
        {method === "credential" && (
          <>
            <Field label={t("signIn.credentialId")}>
              <input name="credential" required autoComplete="off" />
            </Field>
            <Field label={t("signIn.secret")}>
              <input name="secret" type="password" autoComplete="off" required />
            </Field>
          </>
        )}
        {method === "token" && (
          <Field label={t("signIn.token")}>
            <input name="token" type="password" autoComplete="off" required />
          </Field>
        )}
        {method !== "credential" && (
          <Field label={t("signIn.project")} hint={t("signIn.projectHint")}>
            <input name="project" autoComplete="off" />
          </Field>
        )}
        {error !== null && error !== undefined && <Failure error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          {t("signIn.submit")}
        </button>
      </form>
      <Preferences />
    </main>
  );
}
