"""The outline of a document, and the ranges that can be folded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from stoker.cli.authoring.language_server.documents import Document, Kind
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.syntax.nodes import (
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
    walk,
)

_SYMBOLS = {
    "parameters": types.SymbolKind.Variable,
    "resources": types.SymbolKind.Class,
    "outputs": types.SymbolKind.Field,
    "conditions": types.SymbolKind.Boolean,
    "mappings": types.SymbolKind.Constant,
}
_COMMENT = re.compile(r"[ \t]*#")
_MOST = 20_000  # symbols and folds of a document


def outline(model: Model) -> list[types.DocumentSymbol]:
    """Return sections with their entries; for resources with their properties."""
    document, root = model.document, model.document.tree
    if document.kind is Kind.OTHER or not isinstance(root, Mapping):
        return []
    return [_section(model, entry) for entry in root.entries if entry.has_colon]


def _section(model: Model, entry: Entry) -> types.DocumentSymbol:
    dialect, key = model.dialect, entry.key.value
    section = next((name for name in _SYMBOLS if getattr(dialect, name) == key), "")
    children = []
    if isinstance(entry.value, Mapping):
        kind = _SYMBOLS.get(section, types.SymbolKind.Key)
        children = [
            _symbol(model, each, kind, _detail(model, section, each), section == "resources")
            for each in entry.value.entries[:_MOST]
        ]
    detail = entry.value.value if isinstance(entry.value, Scalar) else ""
    found = _symbol(model, entry, types.SymbolKind.Namespace, detail, with_properties=False)
    found.children = children
    return found


def _detail(model: Model, section: str, entry: Entry) -> str:
    value = entry.value
    if section in ("parameters", "resources") and isinstance(value, Mapping):
        found = value.value(model.dialect.type)
        return found.value if isinstance(found, Scalar) else ""
    return value.value if isinstance(value, Scalar) else ""


def _symbol(
    model: Model, entry: Entry, kind: types.SymbolKind, detail: str, with_properties: bool
) -> types.DocumentSymbol:
    text = model.document.text
    children = []
    if with_properties and isinstance(entry.value, Mapping):
        properties = entry.value.value(model.dialect.properties)
        if isinstance(properties, Mapping):
            children = [
                _symbol(model, each, types.SymbolKind.Property, "", with_properties=False)
                for each in properties.entries
            ]
    return types.DocumentSymbol(
        name=entry.key.value or " ",
        kind=kind,
        range=text.range(entry.start, max(entry.end, entry.key.end)),
        selection_range=text.range(entry.key.start, entry.key.end),
        detail=detail[:80] or None,
        children=children or None,
    )


def folds(document: Document) -> list[types.FoldingRange]:
    """Return the blocks, brackets and comments of several lines."""
    if document.kind is Kind.OTHER:
        return []
    found = {}
    for start, end in _blocks(document.tree):
        first, last = document.text.line_of(start), document.text.line_of(end)
        if last > first:
            found[first] = types.FoldingRange(first, last)
    for first, last in _comments(document):
        kind = types.FoldingRangeKind.Comment
        found.setdefault(first, types.FoldingRange(first, last, kind=kind))
    return list(found.values())[:_MOST]


def _blocks(root: Node | None) -> Iterator[tuple[int, int]]:
    for node in walk(root):
        if isinstance(node, Mapping):
            yield from ((entry.start, entry.end) for entry in node.entries if entry.value)
        elif isinstance(node, Sequence):
            yield from ((item.start, item.end) for item in node.items if item is not None)


def _comments(document: Document) -> Iterator[tuple[int, int]]:
    first: int | None = None
    count = len(document.text.starts)
    for number in range(count + 1):
        if number < count and _COMMENT.match(document.text.line(number)):
            first = number if first is None else first
            continue
        if first is not None and number - 1 > first:
            yield first, number - 1
        first = None
