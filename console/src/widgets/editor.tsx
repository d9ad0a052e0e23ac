/** A text editor, loaded when it is first shown. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Finding } from "../api/errors";
import type { EditorHandle } from "./codemirror";

/** What follows from a text is computed once the user pauses, or leaves the editor. */
const REST_MS = 300;

interface EditorProps {
  label: string;
  text: string;
  /** Without it the text is read-only. */
  onChange?: (text: string) => void;
  findings?: readonly Finding[];
  /** A line, from 1, that is brought into view and marked. */
  line?: number | null;
}

export function Editor(props: EditorProps): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorHandle | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const pending = useRef<{ text: string; timer: ReturnType<typeof setTimeout> } | null>(null);
  const flush = (): void => {
    if (!pending.current) return;
    clearTimeout(pending.current.timer);
    const { text } = pending.current;
    pending.current = null;
    latest.current.onChange?.(text);
  };
  const change = (text: string): void => {
    if (pending.current) clearTimeout(pending.current.timer);
    pending.current = { text, timer: setTimeout(flush, REST_MS) };
  };
  useEffect(() => {
    let isGone = false;
    void import("./codemirror").then(({ createEditor }) => {
      if (isGone || !holder.current) return;
      editor.current = createEditor(holder.current, {
        label: latest.current.label,
        text: latest.current.text,
        onChange: latest.current.onChange ? change : null,
      });
      editor.current.mark(latest.current.findings ?? []);
      if (latest.current.line) editor.current.show(latest.current.line);
    });
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);
  useEffect(() => {
    if (!pending.current) editor.current?.replace(props.text);
  }, [props.text]);
  useEffect(() => editor.current?.mark(props.findings ?? []), [props.findings, props.text]);
  useEffect(() => {
    if (props.line) editor.current?.show(props.line);
  }, [props.line, props.text]);
  return <div class="editor" ref={holder} data-label={props.label} onFocusOut={flush} />;
}
