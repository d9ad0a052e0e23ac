"""Reads a text: its position, blanks, comments and scalars.

An unclosed quote ends with its line, unless a later, deeper line closes it.
"""

from __future__ import annotations

import re

from stoker.cli.authoring.language_server.syntax.nodes import Alias, Scalar

# Stands for the cursor in a text that is parsed for completion.
CURSOR = "\ue000"

_BLANK = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))+")
_SPACES = re.compile(r"[ \t]*")
_REST = re.compile(r"[^\r\n]*")
_MARKER = re.compile(r"(?:---|\.\.\.)(?=[ \t\r\n]|$)|%[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_LONE_RETURN = re.compile(r"\r(?!\n)")
_TAG = re.compile(r"(![^\s\[\]{},]*|&[^\s\[\]{},]+)(?=[\s\[\]{},]|$)")
_ALIAS = re.compile(r"\*([^\s\[\]{},:]+)")
_HEADER = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\r\n]*)?(?=\r|\n|$)")
_PLAIN = re.compile(
    r"(?:[^ \t\r\n:#]|:(?![ \t\r\n]|\Z)|(?<=[^ \t\r\n])#"
    r"|[ \t]+(?=[^ \t\r\n#:]|:[^ \t\r\n]))*"
)
_FLOW_PLAIN = re.compile(
    r"(?:[^ \t\r\n:#\[\]{},]|:(?=[^ \t\r\n\[\]{},])|(?<=[^ \t\r\n])#"
    r"|[ \t]+(?=[^ \t\r\n#:\[\]{},])|[ \t]+(?=:[^ \t\r\n,\[\]{}]))*"
)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", "_": "\xa0", "N": "\x85", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_ESCAPED = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r\n|.)", re.DOTALL)
_FOLD = re.compile(r"[ \t]*(?:\r\n|\n|\r)[ \t]*")
_ONLY_CURSOR = re.compile(rf"[\w.:/-]*{CURSOR}[\w.:/-]*[ \t]*(?=\r|\n|$)")


class Reader:
    """A position in a text."""

    def __init__(self, text: str) -> None:
        self.text = _LONE_RETURN.sub("\n", text) if "\r" in text else text
        self.length = len(text)
        self.pos = 0

    def column(self, offset: int | None = None) -> int:
        """Return the number of characters before an offset in its line."""
        offset = self.pos if offset is None else offset
        return offset - self.text.rfind("\n", 0, offset) - 1

    def peek(self) -> str:
        """Return the next character; empty at the end."""
        return self.text[self.pos : self.pos + 1]

    def skip_spaces(self) -> None:
        """Go to the next character that is not a space, in this line."""
        match = _SPACES.match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()

    def skip_line(self) -> None:
        """Go to the start of the next line."""
        match = _REST.match(self.text, self.pos)
        assert match is not None
        self.pos = match.end()
        newline = _NEWLINE.match(self.text, self.pos)
        self.pos = self.length if newline is None else newline.end()

    def skip_blank(self) -> bool:
        """Go to the next content over spaces, lines and comments. Return whether there is any."""
        while True:
            blank = _BLANK.match(self.text, self.pos)
            if blank is not None:
                self.pos = blank.end()
            self.skip_spaces()
            if self._is_comment(self.pos):
                self.skip_line()
                continue
            marker = None if self.column() else _MARKER.match(self.text, self.pos)
            if marker is None:
                return self.pos < self.length
            self.pos = marker.end()

    def _is_comment(self, offset: int) -> bool:
        return self.text[offset : offset + 1] == "#" and (
            offset == 0 or self.text[offset - 1] in " \t\r\n"
        )

    def at_line_end(self) -> bool:
        """Return whether only spaces and a comment are left in this line."""
        match = _SPACES.match(self.text, self.pos)
        assert match is not None
        end = match.end()
        return self.text[end : end + 1] in ("", "\n", "\r") or self._is_comment(end)

    def properties(self) -> tuple[str | None, str | None]:
        """Read tag and anchor of a node."""
        tag = anchor = None
        while (match := _TAG.match(self.text, self.pos)) is not None:
            if match[0][0] == "!":
                tag = match[0]
            else:
                anchor = match[0][1:]
            self.pos = match.end()
            self.skip_spaces()
        return tag, anchor

    def alias(self) -> Alias | None:
        """Read a reference to an anchor."""
        match = _ALIAS.match(self.text, self.pos)
        if match is None:
            return None
        self.pos = match.end()
        return Alias(start=match.start(), end=self.pos, name=match[1])

    def plain(self, *, in_flow: bool) -> Scalar:
        """Read plain text in this line."""
        start = self.pos
        match = (_FLOW_PLAIN if in_flow else _PLAIN).match(self.text, start)
        assert match is not None
        self.pos = match.end()
        return Scalar(start=start, end=self.pos, value=match[0], inner=start)

    def plain_lines(self, indent: int) -> Scalar:
        """Read plain text, with continuation lines that are indented deeper than ``indent``."""
        found = self.plain(in_flow=False)
        parts = [found.value]
        while self.at_line_end() and not self.text.startswith("#", self.pos):
            here = self.pos
            newline = _NEWLINE.search(self.text, here)
            if newline is None or "#" in self.text[here : newline.start()]:
                break
            self.pos = newline.end()
            breaks = 0
            while (blank := _NEWLINE.match(self.text, self._after_spaces())) is not None:
                self.pos = blank.end()
                breaks += 1
            self.skip_spaces()
            if not self._continues(indent):
                self.pos = here
                break
            more = self.plain(in_flow=False)
            parts += ["\n" * breaks if breaks else " ", more.value]
        return Scalar(start=found.start, end=self.pos, value="".join(parts), inner=found.start)

    def _after_spaces(self) -> int:
        match = _SPACES.match(self.text, self.pos)
        assert match is not None
        return match.end()

    def _continues(self, indent: int) -> bool:
        """Return whether the line here continues the plain text above it."""
        if self.pos >= self.length or self.column() <= indent or self.peek() == "#":
            return False
        if _ONLY_CURSOR.match(self.text, self.pos):
            return False
        match = _PLAIN.match(self.text, self.pos)
        assert match is not None
        return match.end() > self.pos and self.text[match.end() : match.end() + 1] != ":"

    def quoted(self, indent: int, *, one_line: bool = False) -> Scalar:
        """Read quoted text. ``indent`` is that of the block around it."""
        start, quote = self.pos, self.text[self.pos]
        end = self._closing(start + 1, quote)
        if end is None or not self._is_inside(start, end, indent, one_line):
            rest = _REST.match(self.text, start)
            assert rest is not None
            self.pos = start + len(rest[0].rstrip(" \t"))
            value = self.text[start + 1 : self.pos]
            return Scalar(start=start, end=self.pos, value=value, style=quote, inner=start + 1)
        self.pos = end + 1
        raw = self.text[start + 1 : end]
        value = raw
        if "\n" in raw or "\r" in raw:
            value = _FOLD.sub(" ", value)
        if quote == "'":
            value = value.replace("''", "'")
        elif "\\" in value:
            value = _ESCAPED.sub(_unescaped, value)
        return Scalar(start=start, end=end + 1, value=value, style=quote, inner=start + 1)

    def _closing(self, pos: int, quote: str) -> int | None:
        while True:
            end = self.text.find(quote, pos)
            if end < 0:
                return None
            if quote == "'":
                if self.text[end + 1 : end + 2] != "'":
                    return end
                pos = end + 2
                continue
            before = end
            while self.text[before - 1] == "\\" and before > pos:
                before -= 1
            if (end - before) % 2 == 0:
                return end
            pos = end + 1

    def _is_inside(self, start: int, end: int, indent: int, one_line: bool) -> bool:
        """Return whether quoted text that spans lines stays in its block."""
        lines = self.text[start:end].splitlines()
        if len(lines) == 1:
            return True
        return not one_line and all(
            not line.strip() or len(line) - len(line.lstrip(" ")) > indent for line in lines[1:]
        )

    def block(self, indent: int) -> Scalar | None:
        """Read a block of text whose lines are indented deeper than ``indent``."""
        start = self.pos
        header = _HEADER.match(self.text, start)
        if header is None:
            return None
        self.pos = header.end()
        style, lines, end = self.text[start], [], header.end()
        inner = None
        self.skip_line()
        while self.pos < self.length:
            rest = _REST.match(self.text, self.pos)
            assert rest is not None
            line = rest[0]
            content = line.lstrip(" ")
            if content and len(line) - len(content) <= indent:
                break
            if content:
                inner = self.pos if inner is None else inner
                end = rest.end()
            lines.append(line)
            self.skip_line()
        margin = min(
            (len(each) - len(each.lstrip(" ")) for each in lines if each.strip()), default=0
        )
        value = "\n".join(each[margin:] for each in lines).rstrip("\n") + "\n" if lines else ""
        return Scalar(
            start=start, end=end, value=value, style=style, inner=end if inner is None else inner
        )


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else ""
    return _ESCAPES.get(code, code)
