"""Parses YAML and JSON to a tree with ranges, and never fails.

For text that is valid, the tree has the data that the YAML parser reads. For other text, it is the
tree that its indentation and brackets suggest: an unclosed bracket or quote ends with its block,
and a word without a colon in a map is a key. So one mistake does not hide the rest of the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from stoker.cli.authoring.language_server.syntax.flow import FlowParser, marked
from stoker.cli.authoring.language_server.syntax.nodes import (
    MAX_DEPTH,
    Entry,
    Mapping,
    Node,
    Sequence,
)
from stoker.cli.authoring.language_server.syntax.scalars import Reader

MAX_CHARACTERS = 1024 * 1024  # of a document that is parsed

_DASH = re.compile(r"-(?=[ \t\r\n]|$)")
_COLON = re.compile(r"[ \t]*:(?=[ \t\r\n]|$)")


def parse(text: str) -> Node | None:
    """Return the tree of a text; None for an empty or a huge one."""
    if len(text) > MAX_CHARACTERS:
        return None
    return _Parser(text).document()


def parse_part(text: str, start: int, end: int) -> Node | None:
    """Return the tree of some lines of a text, as one block."""
    parser = _Parser(text[:end])
    parser.go_to(start)
    return parser.document()


class _Parser:
    """Parses one text."""

    def __init__(self, text: str) -> None:
        self._reader = Reader(text)
        self._text = self._reader.text
        self._flow = FlowParser(self._reader)
        self._depth = 0

    def go_to(self, offset: int) -> None:
        """Start at an offset."""
        self._reader.pos = offset

    def document(self) -> Node | None:
        """Return the root of the document."""
        root: Node | None = None
        reader = self._reader
        if self._text.startswith("\ufeff") and not reader.pos:
            reader.pos = 1
        while reader.skip_blank():
            before = reader.pos
            found = self._block(-1)
            if root is None:
                root = found
            elif isinstance(root, Mapping) and isinstance(found, Mapping):
                root.entries += found.entries  # lines at another level than those above them
                root.end = found.end
            if reader.pos == before:
                reader.skip_line()
        return root

    def _block(self, indent: int, *, with_list: bool = False) -> Node | None:
        """Read the node on the next lines, if they are deeper than ``indent``.

        ``with_list``: also a list at this indentation, as below a key.
        """
        reader = self._reader
        here = reader.pos
        if not reader.skip_blank():
            return None
        column = reader.column()
        is_list = _DASH.match(self._text, reader.pos) is not None
        if column <= indent and not (with_list and is_list and column == indent):
            reader.pos = here
            return None
        return self._deeper(lambda: self._content(column, indent))

    def _deeper(self, read: Callable[[], Node | None]) -> Node | None:
        if self._depth >= MAX_DEPTH:
            self._reader.skip_line()
            return None
        self._depth += 1
        try:
            return read()
        finally:
            self._depth -= 1

    def _content(self, column: int, indent: int) -> Node | None:
        """Read the node that starts here, at a column."""
        reader = self._reader
        if _DASH.match(self._text, reader.pos):
            return self._sequence(column)
        if self._has_key():
            return self._mapping(column)
        return self._value(indent)

    def _has_key(self) -> bool:
        """Return whether a key with a colon starts here."""
        reader, here = self._reader, self._reader.pos
        if reader.peek() in "|>[{":
            return False
        reader.properties()
        if reader.peek() in "'\"" and reader.peek():
            reader.quoted(-1, one_line=True)
        elif reader.peek() not in "[{":
            reader.plain(in_flow=False)
        found = _COLON.match(self._text, reader.pos) is not None
        reader.pos = here
        return found

    def _sequence(self, column: int) -> Sequence:
        reader = self._reader
        found = Sequence(start=reader.pos, end=reader.pos + 1, indent=column)
        while reader.skip_blank() and reader.column() == column:
            dash = _DASH.match(self._text, reader.pos)
            if dash is None:
                break
            reader.pos = dash.end()
            found.end = reader.pos
            reader.skip_spaces()
            if reader.at_line_end():
                item = self._block(column)
            else:
                inner = reader.column()
                item = self._deeper(partial(self._content, inner, column))
            self._finish_line(column)
            found.items.append(item)
            if item is not None:
                found.end = item.end
        return found

    def _mapping(self, column: int) -> Mapping:
        reader = self._reader
        found = Mapping(start=reader.pos, end=reader.pos, indent=column)
        while reader.skip_blank():
            here = reader.column()
            if here < column or (here == column and _DASH.match(self._text, reader.pos)):
                break
            before = reader.pos
            entry = self._entry(here)
            found.entries.append(entry)
            found.end = max(entry.end, entry.key.end)
            self._finish_line(column)
            if reader.pos == before:
                reader.skip_line()
        return found

    def _finish_line(self, column: int) -> None:
        """Skip the rest of a line that is not part of a value."""
        reader = self._reader
        at_start = not self._text[reader.pos - reader.column() : reader.pos].strip()
        if not at_start and not reader.at_line_end():
            reader.skip_line()

    def _entry(self, column: int) -> Entry:
        reader = self._reader
        reader.properties()
        if reader.peek() in ("'", '"'):
            key = reader.quoted(-1, one_line=True)
        else:
            key = reader.plain(in_flow=False)
        colon = _COLON.match(self._text, reader.pos)
        if colon is None:
            return Entry(key=key, has_colon=False)
        reader.pos = colon.end()
        return Entry(key=key, value=self._after_colon(column))

    def _after_colon(self, column: int) -> Node | None:
        reader = self._reader
        reader.skip_spaces()
        start = reader.pos
        tag, anchor = reader.properties()
        if reader.at_line_end():
            value = self._block(column, with_list=True)
        else:
            value = self._deeper(lambda: self._value(column))
        return marked(value, tag, anchor, start)

    def _value(self, indent: int) -> Node | None:
        """Read a value that starts in this line, in a block with this indentation."""
        reader = self._reader
        start = reader.pos
        tag, anchor = reader.properties()
        if reader.at_line_end() and (tag or anchor):
            return marked(self._block(indent, with_list=True), tag, anchor, start)
        return marked(self._simple(indent), tag, anchor, start)

    def _simple(self, indent: int) -> Node:
        reader = self._reader
        first = reader.peek()
        if first in ("|", ">"):
            block = reader.block(indent)
            if block is not None:
                return block
        if first in ("[", "{"):
            return self._flow.collection(indent)
        if first in ("'", '"'):
            return reader.quoted(indent)
        return reader.alias() or reader.plain_lines(indent)
