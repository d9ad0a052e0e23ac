/** Dialogs that state the effect of an action before it happens. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import { visible } from "../model/text";
import { Failure } from "./basics";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog; the browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  effect: ComponentChildren;
  /** A text that must be typed, for what cannot be undone. */
  typed?: string;
  /** Whether the effect is known. */
  isReady?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Ask before an action. It stays open with the error if the action is refused. */
export function Confirm({
  title,
  effect,
  typed,
  isReady = true,
  onConfirm,
  onClose,
}: ConfirmProps): JSX.Element {
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <div class="effect">{effect}</div>
        {typed !== undefined && (
          <label class="field">
            <span class="field-label">{t("action.typeName", { name: visible(typed) })}</span>
            <input
              value={text}
              autoComplete="off"
              spellcheck={false}
              onInput={(e) => setText(e.currentTarget.value)}
            />
          </label>
        )}
        {error !== null && <Failure error={error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            {t("action.back")}
          </button>
          <button
            type="submit"
            class={typed === undefined ? "primary" : "danger"}
            disabled={isBusy || !isReady || (typed !== undefined && text !== typed)}
          >
            {t("action.confirm")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
