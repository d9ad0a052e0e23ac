"""Requests about a document and a position, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from stoker.cli.authoring.formatting.formatter import NotFormattableError, formatted
from stoker.cli.authoring.language_server.actions.actions import KINDS, code_actions
from stoker.cli.authoring.language_server.completion.completer import complete, resolve
from stoker.cli.authoring.language_server.completion.objects import ObjectCandidates
from stoker.cli.authoring.language_server.documents import Document, Kind
from stoker.cli.authoring.language_server.hovers import hover
from stoker.cli.authoring.language_server.session import Session
from stoker.cli.authoring.language_server.symbols.navigation import (
    definition,
    highlights,
    links,
    references,
)
from stoker.cli.authoring.language_server.symbols.outline import folds, outline
from stoker.cli.authoring.language_server.symbols.renaming import (
    RenameError,
    renamable,
    rename,
)
from stoker.kernel.diagnostics import DiagnosticError


def _at(session: Session, params: Any) -> tuple[Document, int] | None:
    """Return the document and the offset of a request; None for an unknown document."""
    document = session.documents.of_uri(params.text_document.uri)
    return None if document is None else (document, document.text.offset(params.position))


def _complete(session: Session, params: types.CompletionParams) -> types.CompletionList:
    found = _at(session, params)
    objects, items = ObjectCandidates(session.cloud, session.settings.cloud), []
    if found is not None:
        items = complete(*found, session.models, objects, has_snippets=session.has_snippets)
    return types.CompletionList(is_incomplete=objects.is_incomplete, items=items)


def _resolve(session: Session, item: types.CompletionItem) -> types.CompletionItem:
    return resolve(item, session.models.types)


def _hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    found = _at(session, params)
    return None if found is None else hover(*found, session.models, session.index)


def _definition(session: Session, params: types.DefinitionParams) -> types.Location | None:
    found = _at(session, params)
    return None if found is None else definition(*found, session.index, session.models)


def _references(session: Session, params: types.ReferenceParams) -> list[types.Location]:
    found = _at(session, params)
    if found is None:
        return []
    with_declaration = params.context.include_declaration
    return references(*found, session.index, with_declaration=with_declaration)


def _highlights(
    session: Session, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    found = _at(session, params)
    return [] if found is None else highlights(*found, session.index)


def _outline(session: Session, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    document = session.documents.of_uri(params.text_document.uri)
    return [] if document is None else outline(session.models.of(document))


def _folds(session: Session, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    document = session.documents.of_uri(params.text_document.uri)
    return [] if document is None else folds(document)


def _links(session: Session, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
    document = session.documents.of_uri(params.text_document.uri)
    return [] if document is None else links(session.models.of(document))


def _prepare_rename(
    session: Session, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    found = _at(session, params)
    wanted = None if found is None else renamable(*found, session.index)
    if found is None or wanted is None:
        return None
    where = found[0].text.range(wanted.start, wanted.end)
    return types.PrepareRenamePlaceholder(where, wanted.name)


def _rename(session: Session, params: types.RenameParams) -> types.WorkspaceEdit | None:
    found = _at(session, params)
    if found is None:
        return None
    dialect = session.models.of(found[0]).dialect
    try:
        return rename(*found, params.new_name, session.index, dialect)
    except RenameError as error:
        raise JsonRpcInvalidParams(str(error)) from None


def _format(session: Session, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    document = session.documents.of_uri(params.text_document.uri)
    if document is None or document.kind is Kind.OTHER:
        return []
    content = document.text.content
    try:
        result = formatted(content)
    except (DiagnosticError, NotFormattableError):
        return []
    if result == content:
        return []
    return [types.TextEdit(document.text.range(0, len(content)), result)]


def _actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    document = session.documents.of_uri(params.text_document.uri)
    if document is None:
        return []
    model, sent = session.models.of(document), params.context.diagnostics
    return code_actions(model, params.range, sent, can_create=session.can_create)


Feature = Callable[[Session, Any], Any]

_TRIGGERS = [":", " ", "-", "{", "[", "$", ".", "/", '"', "'", "!"]
FEATURES: Mapping[str, tuple[Feature, Any]] = {
    types.TEXT_DOCUMENT_COMPLETION: (
        _complete,
        types.CompletionOptions(trigger_characters=_TRIGGERS, resolve_provider=True),
    ),
    types.COMPLETION_ITEM_RESOLVE: (_resolve, None),
    types.TEXT_DOCUMENT_HOVER: (_hover, None),
    types.TEXT_DOCUMENT_DEFINITION: (_definition, None),
    types.TEXT_DOCUMENT_REFERENCES: (_references, None),
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: (_highlights, None),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (_outline, None),
    types.TEXT_DOCUMENT_FOLDING_RANGE: (_folds, None),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: (_links, types.DocumentLinkOptions()),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (_prepare_rename, None),
    types.TEXT_DOCUMENT_RENAME: (_rename, types.RenameOptions(prepare_provider=True)),
    types.TEXT_DOCUMENT_FORMATTING: (_format, None),
    types.TEXT_DOCUMENT_CODE_ACTION: (_actions, types.CodeActionOptions(KINDS)),
}
