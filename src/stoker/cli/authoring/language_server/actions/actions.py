"""Answers a request for code actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from stoker.cli.authoring.language_server.actions.conversions import conversions
from stoker.cli.authoring.language_server.actions.extraction import extract
from stoker.cli.authoring.language_server.actions.fixes import fixes
from stoker.cli.authoring.language_server.documents import Kind
from stoker.cli.authoring.language_server.model import Model

KINDS = (
    types.CodeActionKind.QuickFix,
    types.CodeActionKind.RefactorRewrite,
    types.CodeActionKind.RefactorExtract,
)


def code_actions(
    model: Model,
    where: types.Range,
    diagnostics: Iterable[types.Diagnostic],
    *,
    can_create: bool,
) -> list[types.CodeAction]:
    """Return the actions for a range; ``can_create``: whether the editor creates files."""
    if model.document.kind is Kind.OTHER:
        return []
    found = list(_fixes(model, diagnostics))
    start, end = model.document.text.span(where)
    for title, edit in conversions(model, start):
        found.append(_action(model, title, edit, types.CodeActionKind.RefactorRewrite))
    extracted = extract(model, start, end) if can_create and model.document.is_template else None
    if extracted is not None:
        title, kind = "Extract to a nested template", types.CodeActionKind.RefactorExtract
        found.append(types.CodeAction(title, kind=kind, edit=extracted))
    return found


def _fixes(model: Model, diagnostics: Iterable[types.Diagnostic]) -> Iterator[types.CodeAction]:
    for diagnostic in diagnostics:
        if diagnostic.source != "stoker":
            continue
        for title, edit in fixes(model, diagnostic):
            changes = types.WorkspaceEdit(changes={model.document.uri: [edit]})
            yield types.CodeAction(
                title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=True,
                edit=changes,
            )


def _action(
    model: Model, title: str, edit: types.TextEdit, kind: types.CodeActionKind
) -> types.CodeAction:
    changes = types.WorkspaceEdit(changes={model.document.uri: [edit]})
    return types.CodeAction(title, kind=kind, edit=changes)
