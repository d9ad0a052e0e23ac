"""The place of the cursor in the tree of a text.

A mark is put at the cursor, and the text with it is parsed: so an empty line, an empty value or
half a word has a node, at the level that its indentation gives it.
"""

from __future__ import annotations

from msgspec import Struct

from stoker.cli.authoring.language_server.documents import Document
from stoker.cli.authoring.language_server.syntax.nodes import (
    Mapping,
    Node,
    Scalar,
    Step,
    node_at,
    steps_to,
)
from stoker.cli.authoring.language_server.syntax.parser import parse
from stoker.cli.authoring.language_server.syntax.scalars import CURSOR
from stoker.kernel.diagnostics import Path


class Place(Struct):
    """The word at the cursor, and where in the data it is."""

    path: Path  # of the map whose key is written, or of the value
    word: str  # before the cursor
    start: int  # offsets of the word in the text, with the part behind the cursor
    end: int
    is_key: bool = False
    may_be_key: bool = False  # a value on a line of its own, which may become the key of a map
    has_colon: bool = False
    siblings: tuple[str, ...] = ()  # the other keys of the map
    quote: str = ""
    in_flow: bool = False
    is_json: bool = False
    is_block: bool = False  # inside a block of text
    indent: int = 0  # column of the word
    tag: str | None = None
    offset: int = 0  # of the cursor


def place_at(document: Document, offset: int) -> Place | None:
    """Return the place at an offset; None in a comment."""
    content = document.text.content
    tree = parse(f"{content[:offset]}{CURSOR}{content[offset:]}")
    steps = steps_to(tree, offset)
    if not steps or not isinstance(steps[-1].node, Scalar):
        return None
    step, scalar = steps[-1], steps[-1].node
    around = steps[-2] if len(steps) > 1 else None
    if CURSOR not in f"{content[:offset]}{CURSOR}{content[offset:]}"[scalar.start : scalar.end]:
        return None
    return _place(document, offset, step, scalar, around, tree)


def _place(
    document: Document,
    offset: int,
    step: Step,
    scalar: Scalar,
    around: Step | None,
    tree: Node | None,
) -> Place:
    is_block = scalar.style in ("|", ">")
    start = offset if is_block else min(scalar.inner, offset)
    end = offset if is_block else max(offset, scalar.inner_end - 1)  # without the mark
    word = document.text.content[start:offset]
    column = start - document.text.starts[document.text.line_of(start)]
    found = Place(step.path, word, start, min(end, _end_of_line(document, offset)), indent=column)
    found.quote = "" if is_block else scalar.style
    found.is_block, found.tag, found.offset = is_block, scalar.tag, offset
    found.is_json = document.text.content.lstrip()[:1] in ("{", "[")
    map_ = around.node if around is not None else None
    found.in_flow = getattr(map_, "is_flow", False)
    if step.is_key and isinstance(map_, Mapping) and step.entry is not None:
        found.is_key, found.path = True, step.path[:-1]
        found.has_colon = step.entry.has_colon
        found.siblings = tuple(each.key.value for each in map_.entries if each is not step.entry)
        return found
    line = document.text.content[document.text.starts[document.text.line_of(start)] : start]
    on_own_line = not line.strip(" -") and not found.quote and not is_block
    found.may_be_key = on_own_line and not found.in_flow and scalar.tag is None
    if found.may_be_key and isinstance(node_at(tree, step.path[:-1]), Mapping):
        found.siblings = ()
    return found


def _end_of_line(document: Document, offset: int) -> int:
    return document.text.end_of_line(document.text.line_of(offset))
