"""The text of a document, and its positions in the units of an editor.

A document is addressed by offsets in characters. Editors count lines and units of an encoding, most
of them UTF-16. Lines end with LF, CRLF or CR, as the protocol defines it; YAML knows more line
breaks, so line numbers of the parser are not used.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from lsprotocol import types

from stoker.kernel.lazy import lazy

_LINE = re.compile(r"\r\n|\n|\r")
_WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Text:
    """An immutable text. Positions out of bounds mean the nearest one inside."""

    def __init__(self, content: str, encoding: str = "utf-16") -> None:
        self.content = content
        self.encoding = encoding
        self._codec, self._width = _WIDTHS.get(encoding, _WIDTHS["utf-16"])

    @lazy
    def starts(self) -> Sequence[int]:
        """The offset of the start of each line."""
        return [0, *(match.end() for match in _LINE.finditer(self.content))]

    def line_of(self, offset: int) -> int:
        """Return the number of the line of an offset, from 0."""
        return bisect_right(self.starts, offset) - 1

    def line(self, number: int) -> str:
        """Return a line without its line break; empty for a line that does not exist."""
        if not 0 <= number < len(self.starts):
            return ""
        return self.content[self.starts[number] : self.end_of_line(number)]

    def end_of_line(self, number: int) -> int:
        """Return the offset of the end of a line, before its line break."""
        if number + 1 >= len(self.starts):
            return len(self.content)
        end = self.starts[number + 1] - 1
        if self.content[end] == "\n" and self.content[end - 1 : end] == "\r":
            end -= 1
        return max(end, self.starts[number])

    @property
    def newline(self) -> str:
        """Return the line break of the document."""
        found = _LINE.search(self.content)
        return found[0] if found else "\n"

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position."""
        if position.line < 0:
            return 0
        if position.line >= len(self.starts):
            return len(self.content)
        start, line = self.starts[position.line], self.line(position.line)
        if line.isascii() or self._width == 4:
            return start + max(0, min(position.character, len(line)))
        units = max(0, position.character) * self._width
        return start + len(line.encode(self._codec, "surrogatepass")[:units].decode(
            self._codec, "ignore"
        ))  # fmt: skip

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        offset = max(0, min(offset, len(self.content)))
        number = self.line_of(offset)
        before = self.content[self.starts[number] : offset]
        if not before.isascii() and self._width != 4:
            units = len(before.encode(self._codec, "surrogatepass")) // self._width
        else:
            units = len(before)
        return types.Position(number, units)

    def range(self, start: int, end: int) -> types.Range:
        """Return the range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def span(self, found: types.Range) -> tuple[int, int]:
        """Return the offsets of a range, the smaller first."""
        start, end = self.offset(found.start), self.offset(found.end)
        return min(start, end), max(start, end)

    def changed(self, changes: Sequence[types.TextDocumentContentChangeEvent]) -> Text:
        """Return the text after changes, which are applied one after the other."""
        text = self
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = text.span(change.range)
                content = f"{text.content[:start]}{change.text}{text.content[end:]}"
            else:
                content = change.text
            text = Text(content, self.encoding)
        return text
