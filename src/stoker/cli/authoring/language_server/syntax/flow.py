"""Parses lists and maps in brackets: of JSON, and of YAML in flow style.

A bracket that is not closed ends before the next key of the block around it.
"""

from __future__ import annotations

import re

from stoker.cli.authoring.language_server.syntax.nodes import (
    MAX_DEPTH,
    Entry,
    Mapping,
    Node,
    Scalar,
    Sequence,
)
from stoker.cli.authoring.language_server.syntax.scalars import Reader

_FLOW_COLON = re.compile(r"\s*:")
_NEW_KEY = re.compile(r"(?:- +)*[\w.:*$-]+:(?=[ \t\r\n]|$)")


class FlowParser:
    """Parses the brackets at the position of a reader."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._text = reader.text
        self._depth = 0

    def collection(self, indent: int) -> Node:
        """Read a list or map in brackets, in a block with this indentation."""
        reader = self._reader
        start, is_map = reader.pos, reader.peek() == "{"
        closing = "}" if is_map else "]"
        found: Mapping | Sequence = (
            Mapping(start=start, end=start, is_flow=True, indent=reader.column())
            if is_map
            else Sequence(start=start, end=start, is_flow=True, indent=reader.column())
        )
        reader.pos += 1
        found.end = reader.pos
        while reader.skip_blank() and not self._leaves(start, indent):
            before, first = reader.pos, reader.peek()
            if first == closing:
                reader.pos += 1
                found.end = reader.pos
                return found
            if first in "]}":
                break
            if first == ",":
                reader.pos += 1
                found.end = reader.pos
                continue
            if isinstance(found, Mapping):
                entry = self._entry(indent)
                found.entries.append(entry)
                found.end = max(found.end, entry.end, entry.key.end)
            else:
                item = self._item(indent)
                found.items.append(item)
                found.end = max(found.end, reader.pos if item is None else item.end)
            if reader.pos == before:
                reader.pos += 1
        return found

    def _leaves(self, start: int, indent: int) -> bool:
        """Return whether a key of the block around an unclosed bracket is here."""
        reader = self._reader
        column = reader.column()
        if column > indent or column != len(self._text[reader.pos - column : reader.pos]):
            return False
        if self._text[reader.pos - column : reader.pos].strip():
            return False
        return reader.pos > start and _NEW_KEY.match(self._text, reader.pos) is not None

    def _entry(self, indent: int) -> Entry:
        reader = self._reader
        reader.properties()
        if reader.peek() in ("'", '"'):
            key = reader.quoted(indent, one_line=True)
        else:
            key = reader.plain(in_flow=True)
        colon = _FLOW_COLON.match(self._text, reader.pos)
        if colon is None:
            return Entry(key=key, has_colon=False)
        reader.pos = colon.end()
        return Entry(key=key, value=self._value(indent))

    def _item(self, indent: int) -> Node | None:
        """Read an item; one with a colon is a map of one entry."""
        reader = self._reader
        item = self._value(indent)
        colon = None
        if isinstance(item, Scalar) and item.tag is None:
            colon = _FLOW_COLON.match(self._text, reader.pos)
        if colon is None or not isinstance(item, Scalar):
            return item
        reader.pos = colon.end()
        entry = Entry(key=item, value=self._value(indent))
        end = max(entry.end, colon.end())
        return Mapping(start=item.start, end=end, entries=[entry], is_flow=True)

    def _value(self, indent: int) -> Node | None:
        reader = self._reader
        if not reader.skip_blank() or self._leaves(0, indent):
            return None
        start, first = reader.pos, reader.peek()
        tag, anchor = reader.properties()
        first = reader.peek()
        if first in ("[", "{"):
            return marked(self._nested(indent), tag, anchor, start)
        if first in ("'", '"'):
            return marked(reader.quoted(indent, one_line=indent < 0), tag, anchor, start)
        alias = reader.alias()
        if alias is not None:
            return alias
        scalar = reader.plain(in_flow=True)
        return marked(scalar if scalar.value else None, tag, anchor, start)

    def _nested(self, indent: int) -> Node | None:
        if self._depth >= MAX_DEPTH:
            self._reader.skip_line()
            return None
        self._depth += 1
        found = self.collection(indent)
        self._depth -= 1
        return found


def marked(node: Node | None, tag: str | None, anchor: str | None, start: int) -> Node | None:
    """Return the node with its tag and anchor."""
    if tag is None and anchor is None:
        return node
    if node is None:
        width = sum(len(part) + 1 for part in (tag, anchor) if part is not None) - 1
        node = Scalar(start=start, end=start + width, value="", inner=start + width)
    node.tag, node.anchor, node.start = tag, anchor, start
    return node
