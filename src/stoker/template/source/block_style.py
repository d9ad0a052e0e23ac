"""Reads YAML texts in block style in less than half of the time that the YAML parser takes.

Takes a text, and returns its data, or :data:`UNSURE` if the text needs the parser: for anchors,
directives, repeated keys, everything that deserves a warning, and all texts that are not valid.
The parser then reads the whole text, and explains its faults with their positions.

A regular expression splits lines with a key or a list entry and plain or quoted text. Equal lines
are split once. The lines of any other value (block text, brackets, tags, text of several lines)
form a document of their own, with their indentation; the parser reads many of them together.

Invariant: the data is the same that the parser would read, without a warning. A line is read here
only if the lines before and after it cannot change its meaning.

:mod:`stoker.template.source.source` calls it. Tested by tests/language/test_block_style.py, which
compares both readers on changed templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from stoker.template.source.yaml_data import (
    BOOLEANS,
    MAX_DEPTH,
    MAX_NODES,
    NULL,
    STRINGS,
    implicit_tag,
    read_documents,
    text_key,
)


@dataclass(frozen=True, eq=False, slots=True)
class _Form:
    """A value that its line does not show."""

    name: str


UNSURE = _Form("unsure")
_BELOW = _Form("below")  # on the next lines; null if they are not deeper
_EMPTY_MAP = _Form("{}")
_EMPTY_LIST = _Form("[]")
_OTHER = _Form("other")  # only the parser can read it

_LINE = re.compile(
    r"""
    ( \ * )                                           # indentation
    ( (?: - (?: \ + | $ ) )* )                        # starts of list entries
    (?:
        ( [\w$/.<(] [^:#]* (?: :+ [^:#\ ] [^:#]* )*   # a key
        | '[^']*' | "[^"\\]*"
        ) : (?: \ + | $ )
    )?
    (.*)                                              # a value
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING = re.compile(r" *[\]}]+ *")  # may be indented less than the entry whose brackets it closes
_MARKS = ("<<", "...")  # a merge, and the end of a document
_QUOTES = frozenset("'\"")
_FIRST_OF_PLAIN = frozenset("_$/.<(")  # with letters and digits
_BATCH = 64 * 1024  # characters that are split into lines, or parsed as documents, at a time
_LONGEST_LINE = 4096
_LONGEST_KEY = 1000  # a little less than the limit of YAML
_LONGEST_DIGITS = 15
_MAX_KNOWN = 10_000  # lines that are split once
_LONGEST_KNOWN = 100
_FEW = 500
_MAX_PARSED = 0.2  # share of lines with other values above which the parser is faster for all


class _UnsureError(Exception):
    """The text needs the parser."""


# Of one line: the column of its first character; the columns of the text after each dash;
# its key; its value; the number of keys and values, and of lists and maps that start after a dash.
_Line = tuple[int, tuple[int, ...], str | None, Any, int]
_NOTHING: _Line = (0, (), None, None, 0)  # a blank line, or a comment


class _Place(NamedTuple):
    """The place of a value whose lines the parser reads."""

    container: Any
    key: Any  # or the index
    dashes: int  # at the start of its first line
    is_keyed: bool  # whether its first line has a key

    def fill(self, document: Any) -> None:
        """Add the value from the document of its lines."""
        for _ in range(self.dashes):
            if type(document) is not list or len(document) != 1:
                raise _UnsureError
            (document,) = document
        if self.is_keyed:
            if type(document) is not dict or len(document) != 1 or self.key not in document:
                raise _UnsureError
            document = document[self.key]
        self.container[self.key] = document


def read_block_style(text: str, most_parsed: float = _MAX_PARSED) -> Any:
    """Return the data in a YAML text, or :data:`UNSURE`.

    ``most_parsed`` is the limit on the share of lines with values that the parser reads.
    """
    reader = _Reader(most_parsed)
    try:
        for lines in _batches(text):
            reader.read(lines)
        return reader.end()
    except _UnsureError:
        return UNSURE


def _batches(text: str) -> Iterator[list[str]]:
    """Yield the lines of a text in lists of about the same number of characters."""
    start = 0
    while (end := text.find("\n", start + _BATCH)) >= 0:
        yield text[start:end].split("\n")
        start = end + 1
    yield text[start:].split("\n")


class _Reader:
    """Reads the lines of one text."""

    def __init__(self, most_parsed: float) -> None:
        self._most_parsed = most_parsed
        self._known: dict[str, _Line] = {}
        self._starts: dict[str, _Line] = {}  # by the text before the colon
        self._scalars: dict[str, Any] = {}
        self._root: list[Any] = [None]
        # The innermost open list or map, the column of its entries, and those around it.
        self._top: Any = self._root
        self._column = -1
        self._around: list[tuple[Any, int]] = []
        self._awaited: Any = 0  # key or index of a value that is on the next lines
        self._last: str | None = None  # the previous line, if the next one may continue it
        self._lines = 0
        self._values = 1
        self._parts = _Parts()

    def read(self, lines: list[str]) -> None:
        """Read the next lines."""
        known, parts = self._known, self._parts
        for line in lines:
            if parts.lines and parts.continues(line):
                continue
            found = known.get(line) or self._split(line)
            if found is _NOTHING:
                self._last = None
                continue
            self._add(line, found)
            self._last = line
        self._lines += len(lines)
        if self._values > MAX_NODES or parts.count > max(_FEW, self._most_parsed * self._lines):
            raise _UnsureError

    def end(self) -> Any:
        """Return the data in all lines."""
        self._parts.end()
        if self._values + self._parts.values > MAX_NODES or self._top is self._root:
            raise _UnsureError
        return self._root[0]

    def _split(self, line: str) -> _Line:
        # Lines with the same start differ in their value only.
        start, colon, written = line.partition(": ")
        known = self._starts.get(start)
        if known is not None and colon and written[:1] != " " and len(line) <= _LONGEST_LINE:
            column, inner, key, _, weight = known
            found = (column, inner, key, self._value(written), weight)
        else:
            found = self._match(line)
            key = found[2]
            # A key in quotes may have a colon.
            if key is not None and colon and start.endswith(key) and len(self._starts) < _MAX_KNOWN:
                self._starts[start] = found
        if len(self._known) < _MAX_KNOWN and len(line) <= _LONGEST_KNOWN:
            self._known[line] = found
        return found

    def _match(self, line: str) -> _Line:
        # A key that is cut at the limit differs from the one that the parser finds.
        match = _LINE.match(line, 0, _LONGEST_LINE)
        assert match is not None
        indentation, dashes, key, written = match.groups()
        column = len(indentation)
        inner = _columns(column, dashes) if dashes else ()
        value: Any = self._value(written) if len(line) <= _LONGEST_LINE else _OTHER
        if key is not None:
            return column, inner, self._key(key), value, len(inner) + 2
        if inner:
            return column, inner, None, value, len(inner)
        return _NOTHING if value is _BELOW else (column, (), None, _OTHER, 0)

    def _key(self, written: str) -> str:
        if len(written) > _LONGEST_KEY or not written.isprintable():
            raise _UnsureError
        if written[0] in _QUOTES:
            return written[1:-1]
        value = self._value(written)
        if type(value) is _Form or written[-1] == " " or written.startswith(_MARKS):
            raise _UnsureError
        return text_key(value)

    def _value(self, written: str) -> Any:
        """Return the value that is written in one line, with one object for equal ones."""
        value = self._scalars.get(written, _OTHER)
        if value is _OTHER:
            value = _value(written)
            if type(value) is not _Form:
                self._scalars[written] = value
        return value

    def _add(self, line: str, found: _Line) -> None:
        """Add one line to the data."""
        column, inner, key, value, weight = found
        if column > self._column:
            if self._awaited is None or not weight:
                self._join(line)
                return
            self._open([] if inner else {}, column)
        elif column < self._column or self._awaited is not None or not inner:
            self._close(column, is_entry=bool(inner))
        top = self._top
        if inner:
            if type(top) is not list:
                raise _UnsureError
            for deeper in inner[:-1]:
                self._awaited = len(top)
                top.append(None)
                self._open([], deeper)
                top = self._top
            place: Any = len(top)
            top.append(value)
            if key is not None:
                self._awaited = place
                self._open({}, inner[-1])
                top = self._top
        if key is not None:
            if key in top:
                raise _UnsureError
            place = key
            top[key] = value
        elif not inner:
            raise _UnsureError
        self._values += weight
        self._awaited = None
        if type(value) is _Form:
            self._add_form(value, place, line, found)

    def _add_form(self, form: _Form, place: Any, line: str, found: _Line) -> None:
        top = self._top
        if form is _EMPTY_MAP:
            top[place] = {}
        elif form is _EMPTY_LIST:
            top[place] = []
        elif form is _BELOW:
            top[place] = None
            self._awaited = place
        else:
            self._part([line], found)

    def _open(self, container: Any, column: int) -> None:
        """Open a list or map, which is the awaited value."""
        self._top[self._awaited] = container
        self._around.append((self._top, self._column))
        self._top, self._column = container, column
        if len(self._around) > MAX_DEPTH:
            raise _UnsureError

    def _close(self, column: int, *, is_entry: bool) -> None:
        """Close the lists and maps that end before a line."""
        while self._column > column:
            self._top, self._column = self._around.pop()
            self._awaited = None
        if self._column != column:
            raise _UnsureError
        if not is_entry and type(self._top) is list:
            # The entries of a list may have the column of the map around it.
            self._top, self._column = self._around.pop()
            if self._column != column or type(self._top) is not dict:
                raise _UnsureError
        elif is_entry and self._awaited is not None and type(self._top) is dict:
            self._open([], column)

    def _join(self, line: str) -> None:
        """Start a part with the previous line and this one, which is deeper."""
        if self._top is not self._root:
            if self._last is None:
                raise _UnsureError
            self._part([self._last, line], self._split(self._last))
            self._awaited = None
        elif line != "---" or self._last is not None:
            raise _UnsureError

    def _part(self, lines: list[str], found: _Line) -> None:
        column, inner, key, _, weight = found
        place = len(self._top) - 1 if key is None else key
        self._values -= weight + 1  # The lists and maps around it count in its document, too.
        self._parts.start(
            lines,
            (column, *inner)[-2 if key is None else -1],
            _Place(self._top, place, len(inner), key is not None),
            len(self._around),
        )


class _Parts:
    """Parts of a text that the parser reads."""

    def __init__(self) -> None:
        self.lines: list[str] = []  # of the part that may continue
        self.count = 0
        self.values = 0
        self._indent = 0
        self._texts: list[str] = []
        self._places: list[_Place] = []
        self._depth = 0
        self._characters = 0

    def start(self, lines: list[str], column: int, place: _Place, depth: int) -> None:
        """Start a part with its first lines."""
        self.lines = lines
        self.count += 1
        self._indent = column + 1
        self._places.append(place)
        self._depth = max(self._depth, depth)

    def continues(self, line: str) -> bool:
        """Add a line to the part that is open, or end that part."""
        if not line[: self._indent].strip(" ") or _CLOSING.fullmatch(line):
            self.lines.append(line)
            return True
        self.lines.append("")
        self._end_part()
        if self._characters > _BATCH:
            self._parse()
        return False

    def end(self) -> None:
        """Read the last parts."""
        if self.lines:
            self._end_part()
        if self._texts:
            self._parse()

    def _end_part(self) -> None:
        text = "\n".join(self.lines)
        self._texts.append(text)
        self._characters += len(text)
        self.lines = []

    def _parse(self) -> None:
        documents = read_documents("---\n".join(self._texts), MAX_DEPTH - self._depth)
        if documents is None or len(documents.data) != len(self._places):
            raise _UnsureError
        for place, document in zip(self._places, documents.data, strict=True):
            place.fill(document)
        self.values += documents.values
        self._characters = 0
        self._texts, self._places = [], []


def _columns(column: int, dashes: str) -> tuple[int, ...]:
    """Return the column of the text after each dash."""
    length = len(dashes)
    starts = [place for place in range(1, length) if dashes[place] == "-"]
    return tuple(column + place for place in (*starts, max(length, 2)))


def _value(written: str) -> Any:
    """Return the value that is written in one line, or its form."""
    first = written[:1]
    if not written or (first == "#" and written.isprintable()):
        return _BELOW
    if not written.isprintable():
        return _OTHER
    written = written.rstrip(" ")
    if first in _QUOTES:
        inside = written[1:-1]
        is_simple = len(written) > 1 and written[-1] == first and first not in inside
        return inside if is_simple and (first == "'" or "\\" not in inside) else _OTHER
    if written == "{}":
        return _EMPTY_MAP
    if written == "[]":
        return _EMPTY_LIST
    if _is_plain_number(written):
        return int(written)
    if not (first.isalnum() or first in _FIRST_OF_PLAIN):
        return _OTHER
    if ": " in written or " #" in written or written[-1] == ":":
        return _OTHER
    return _plain(written)


def _is_plain_number(written: str) -> bool:
    digits = written[1:] if written[0] == "-" else written
    return (
        digits.isdecimal()
        and digits.isascii()
        and len(digits) <= _LONGEST_DIGITS
        and (digits[0] != "0" or digits == "0")
    )


def _plain(written: str) -> Any:
    tag = implicit_tag(written)
    if tag in STRINGS:
        return written
    if tag == NULL:
        return None
    return BOOLEANS.get(written.lower(), _OTHER)
