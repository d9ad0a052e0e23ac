"""Candidates for the word at the cursor, and their form in the protocol."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from stoker.cli.authoring.language_server.completion.places import Place
from stoker.cli.authoring.language_server.documents import Document
from stoker.cli.authoring.language_server.syntax.nodes import Scalar, scalar_value
from stoker.cli.authoring.language_server.syntax.parser import parse

MAX_CANDIDATES = 2000
Kind = types.CompletionItemKind


@dataclass(slots=True)
class Candidate:
    """A word that fits."""

    label: str
    kind: types.CompletionItemKind = Kind.Value
    detail: str = ""
    documentation: str = ""
    snippet: str | None = None  # to insert in place of the label, in the notation of the protocol
    is_key: bool = False  # followed by a colon and a value
    opens: str = ""  # for a key: "map" or "list" for values on lines of their own
    is_deprecated: bool = False
    order: str = "5"
    data: dict[str, Any] | None = None  # to add the documentation when it is shown
    raw: bool = False  # the label is inserted as it is, without quotes


def escaped(text: str) -> str:
    """Return a text as a snippet has it."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def as_yaml(value: Any) -> str:
    """Return a simple value in the notation of YAML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    node = parse(f"a: {value}")
    read = getattr(node, "value", lambda key: None)("a")
    is_same = isinstance(read, Scalar) and not read.style and scalar_value(read) == value
    return value if is_same and not set("[]{},\n") & set(value) else json.dumps(value)


def items_of(
    candidates: list[Candidate], place: Place, document: Document, *, has_snippets: bool
) -> list[types.CompletionItem]:
    """Return candidates in the form of the protocol, each once."""
    found = {candidate.label: candidate for candidate in reversed(candidates)}
    where = document.text.range(place.start, place.end)
    return [
        _item(candidate, place, where, has_snippets)
        for candidate in list(reversed(found.values()))[:MAX_CANDIDATES]
    ]


def _item(
    candidate: Candidate, place: Place, where: types.Range, has_snippets: bool
) -> types.CompletionItem:
    text, is_snippet = _inserted(candidate, place)
    if is_snippet and not has_snippets:
        text, is_snippet = _plain(text), False
    kind = types.InsertTextFormat.Snippet if is_snippet else types.InsertTextFormat.PlainText
    return types.CompletionItem(
        label=candidate.label,
        kind=candidate.kind,
        detail=candidate.detail or None,
        documentation=_markdown(candidate.documentation),
        tags=[types.CompletionItemTag.Deprecated] if candidate.is_deprecated else None,
        sort_text=f"{candidate.order}{candidate.label}",
        filter_text=candidate.label,
        insert_text_format=kind,
        insert_text_mode=types.InsertTextMode.AdjustIndentation if "\n" in text else None,
        text_edit=types.TextEdit(where, text),
        data=candidate.data,
    )


def _markdown(text: str) -> types.MarkupContent | None:
    return types.MarkupContent(types.MarkupKind.Markdown, text) if text else None


def _inserted(candidate: Candidate, place: Place) -> tuple[str, bool]:
    """Return the inserted text, and whether it is a snippet."""
    if candidate.is_key:
        return _key(candidate, place)
    if candidate.snippet is not None:
        return candidate.snippet, True
    if place.quote or candidate.raw:
        return candidate.label, False
    if place.is_json:
        return json.dumps(candidate.label), False
    return candidate.label, False


def _key(candidate: Candidate, place: Place) -> tuple[str, bool]:
    name = candidate.label
    if place.quote and (place.has_colon or place.is_json):
        return name, False
    if place.is_json:
        name = json.dumps(name)
    elif not place.quote:
        name = as_yaml(name)
    if place.has_colon or place.quote:
        return name, False
    if candidate.snippet is not None and not place.in_flow:
        return candidate.snippet, True
    return f"{name}:{_opening(candidate, place)}", candidate.opens != "" and not place.in_flow


def _opening(candidate: Candidate, place: Place) -> str:
    if place.in_flow or not candidate.opens:
        return " "
    return "\n  $0" if candidate.opens == "map" else "\n  - $0"


_PLACE = re.compile(r"\\(.)|\$\{\d+(?::([^}]*))?\}|\$\d+")


def _plain(snippet: str) -> str:
    """Return a snippet as plain text, without its places."""
    return _PLACE.sub(lambda found: found[1] or found[2] or "", snippet)
