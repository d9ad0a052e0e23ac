"""The place of the cursor in the tree of a text.

A mark is put at the cursor, and the text with it is parsed: so an empty line, an empty value or
half a word has a node, at the level that its indentation gives it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stoker.cli.authoring.language_server.documents import Document
from stoker.cli.authoring.language_server.syntax.nodes import (
    Mapping,
    Scalar,
    Step,
    steps_to,
)
from stoker.cli.authoring.language_server.syntax.parser import MAX_CHARACTERS, parse, parse_part
from stoker.cli.authoring.language_server.syntax.scalars import CURSOR
from stoker.cli.authoring.language_server.text import Text
from stoker.kernel.diagnostics import Path

_SHORT = 10_000  # characters of a document that is parsed as a whole
_SECTION = re.compile(r"([\w.:/*-]+):[ \t]*(?:#.*)?$")
_KEY = re.compile(r"([\w.:/*-]+):(?=[ \t]|$)")


@dataclass(slots=True)
class Place:
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
    marked = f"{content[:offset]}{CURSOR}{content[offset:]}"
    if len(marked) > MAX_CHARACTERS:
        return None
    steps = _steps(document.text, marked, offset)
    if not steps or not isinstance(steps[-1].node, Scalar):
        return None
    step, scalar = steps[-1], steps[-1].node
    around = steps[-2] if len(steps) > 1 else None
    if CURSOR not in marked[scalar.start : scalar.end]:
        return None
    return _place(document, offset, step, scalar, around)


def _steps(text: Text, marked: str, offset: int) -> list[Step]:
    """Return the nodes that contain the mark.

    In a long document, only the entry of the section is parsed that contains it: its lines are
    indented deeper than its name, whatever is in them.
    """
    if len(marked) < _SHORT:
        return steps_to(parse(marked), offset)
    number = text.line_of(offset)
    column = offset - text.starts[number]
    before = text.line(number)[:column]
    own = len(before) - len(before.lstrip(" "))  # The mark is no space.
    first = _line_before(text, number, 0)
    section = _SECTION.match(text.line(first))
    inner = next((n for n in range(first + 1, number) if _indent(text.line(n)) is not None), None)
    if section is None or inner is None:
        return steps_to(parse(marked), offset)
    margin = _indent(text.line(inner)) or 0
    start = _line_before(text, number, margin)
    is_inside = 0 < margin < own and start > first
    if not is_inside or _KEY.match(text.line(start).lstrip(" ")) is None:
        return steps_to(parse(marked), offset)
    end = _line_after(text, number, margin)
    stop = text.starts[end] + 1 if end < len(text.starts) else len(marked)
    steps = steps_to(parse_part(marked, text.starts[start], stop), offset)
    for step in steps:
        step.path = (section[1], *step.path)
    return steps


def _indent(line: str) -> int | None:
    """Return the indentation of a line; None for an empty one and a comment."""
    content = line.lstrip(" ")
    return None if not content.strip() or content[0] == "#" else len(line) - len(content)


def _line_before(text: Text, number: int, margin: int) -> int:
    """Return the last line before this one that is indented no deeper than a margin."""
    for line in range(number - 1, 0, -1):
        indent = _indent(text.line(line))
        if indent is not None and indent <= margin:
            return line
    return 0


def _line_after(text: Text, number: int, margin: int) -> int:
    """Return the next line that is indented no deeper than a margin, or the number of lines."""
    for line in range(number + 1, len(text.starts)):
        indent = _indent(text.line(line))
        if indent is not None and indent <= margin:
            return line
    return len(text.starts)


def _place(
    document: Document,
    offset: int,
    step: Step,
    scalar: Scalar,
    around: Step | None,
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
    return found


def _end_of_line(document: Document, offset: int) -> int:
    return document.text.end_of_line(document.text.line_of(offset))
