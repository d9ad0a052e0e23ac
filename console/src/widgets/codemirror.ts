/** CodeMirror, set up for templates. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Finding } from "../api/errors";

export interface EditorHandle {
  replace: (text: string) => void;
  mark: (findings: readonly Finding[]) => void;
  show: (line: number) => void;
  destroy: () => void;
}

interface Settings {
  label: string;
  text: string;
  onChange: ((text: string) => void) | null;
}

/** Marks changes that did not come from the user. */
const FROM_OUTSIDE = Annotation.define<boolean>();

const COLORS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.keyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--done)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--idle)" },
  { tag: [tags.typeName, tags.labelName, tags.meta], color: "var(--idle)" },
  { tag: tags.invalid, color: "var(--failed)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--text)", backgroundColor: "var(--surface)" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--page)", borderColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-content": { caretColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection) !important",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--selection)" },
  ".cm-foldPlaceholder": { color: "var(--text)", backgroundColor: "var(--group)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--page)" },
});

/**
 * Create an editor inside an element. It lives in a shadow root, where its styles are sheets of
 * the document: the Content-Security-Policy allows no style elements.
 */
export function createEditor(holder: HTMLElement, settings: Settings): EditorHandle {
  const root = holder.shadowRoot ?? holder.attachShadow({ mode: "open" });
  const isEditable = settings.onChange !== null;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: settings.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        bracketMatching(),
        search({ top: true }),
        highlightSelectionMatches(),
        highlightActiveLine(),
        syntaxHighlighting(COLORS),
        yaml(),
        lintGutter(),
        EditorState.readOnly.of(!isEditable),
        EditorView.contentAttributes.of({ "aria-label": settings.label, tabindex: "0" }),
        keymap.of([
          ...defaultKeymap,
          ...historyKeymap,
          ...searchKeymap,
          ...(isEditable ? [indentWithTab] : []),
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && update.transactions.every((each) => !each.annotation(FROM_OUTSIDE))) {
            settings.onChange?.(update.state.doc.toString());
          }
        }),
        LOOK,
      ],
    }),
  });
  return {
    replace(text) {
      if (text === view.state.doc.toString()) return;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        annotations: FROM_OUTSIDE.of(true),
      });
    },
    mark(findings) {
      view.dispatch(
        setDiagnostics(
          view.state,
          findings.flatMap((each) => diagnosticOf(view.state, each)),
        ),
      );
    },
    show(line) {
      const { from } = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      view.dispatch({
        selection: { anchor: from },
        effects: EditorView.scrollIntoView(from, { y: "center" }),
      });
    },
    destroy() {
      view.destroy();
    },
  };
}

function diagnosticOf(state: EditorState, finding: Finding): Diagnostic[] {
  if (finding.line === null || finding.line > state.doc.lines) return [];
  const line = state.doc.line(Math.max(1, finding.line));
  const from = Math.min(line.to, line.from + Math.max(0, (finding.column ?? 1) - 1));
  const severity = finding.severity === "error" ? "error" : "warning";
  const hint = finding.suggestion ? `\n${finding.suggestion}` : "";
  return [{ from, to: Math.max(from, line.to), severity, message: finding.message + hint }];
}
