"""Lays out the tokens of a YAML text again.

Tokens are copied; only the white space and comments between them change. So line breaks, quotes
and the order of keys stay as the author wrote them, and no comment is lost. Each open collection
has its column in the text and its column in the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

INDENT = 2
_STRUCTURE = (
    yaml.StreamStartToken,
    yaml.StreamEndToken,
    yaml.BlockMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockEndToken,
)
_OPENING = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_MARKERS = (yaml.DocumentStartToken, yaml.DocumentEndToken, yaml.DirectiveToken)
_BLOCK_STYLES = ("|", ">")
_HEADER = re.compile(r"[|>][+-]?([1-9])?[+-]?")
# A comment whose first character is not a space: a commented-out line or a heading keeps its form.
_TIGHT_COMMENT = re.compile(r"#(?=[^\s#!:-])")


@dataclass(slots=True)
class _Block:
    """A block collection that is open."""

    column: int  # in the text
    new_column: int
    is_list: bool
    is_indentless: bool = False  # a list at the column of its key


@dataclass(slots=True)
class _Flow:
    """A flow collection that is open."""

    indent: int  # of the line on which it opens, in the result
    line: int  # in the text


@dataclass(slots=True)
class _Comment:
    text: str
    column: int
    has_blank_before: bool


@dataclass(slots=True)
class _Gap:
    """White space and comments between two tokens."""

    trailing: str | None  # the comment on the line of the token before
    comments: list[_Comment]
    breaks: int  # line ends; 0 if both tokens are on one line
    has_blank_after: bool  # before the next token, behind the last comment


def _gap(text: str) -> _Gap:
    first, *lines = text.split("\n")
    trailing = first.strip() or None
    if not lines:
        return _Gap(_spaced(trailing) if trailing else None, [], 0, False)
    comments, blank = [], False
    for line in lines[:-1]:
        content = line.strip()
        if not content:
            blank = True
            continue
        column = len(line) - len(line.lstrip())
        comments.append(_Comment(_spaced(content), column, blank))
        blank = False
    last = lines[-1].strip()
    if last:  # a comment at the end of the text, without a line end
        comments.append(_Comment(_spaced(last), len(lines[-1]) - len(lines[-1].lstrip()), blank))
        blank = False
    return _Gap(trailing and _spaced(trailing), comments, len(lines), blank)


def _spaced(comment: str) -> str:
    return _TIGHT_COMMENT.sub("# ", comment, count=1)


@dataclass(slots=True)
class _Layout:
    """The result so far, and the collections that are open."""

    text: str
    blocks: list[_Block] = field(default_factory=list)
    flows: list[_Flow] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    line_indent: int = 0  # of the current line of the result
    previous: Any = None

    def run(self) -> str:
        end = 0
        before = list(self.blocks)
        for token in _tokens(self.text):
            if isinstance(token, _STRUCTURE):
                self._structure(token)
                continue
            self._indentless(token)
            start = token.start_mark.index
            if token.end_mark.index == start:
                continue  # the key of a simple pair
            self._between(_gap(self.text[end:start]), token, before)
            written, end = self._token(token)
            self.parts.append(written)
            if isinstance(token, _OPENING):
                self._open_flow(token.start_mark.line)
            before = list(self.blocks)
            self.previous = token
        self._finish(_gap(self.text[end:]), before)
        return "".join(self.parts)

    # Collections

    def _structure(self, token: Any) -> None:
        if isinstance(token, yaml.BlockEndToken):
            while self.blocks and self.blocks[-1].is_indentless:
                self.blocks.pop()
            self.blocks.pop()
        elif isinstance(token, yaml.BlockMappingStartToken | yaml.BlockSequenceStartToken):
            column = token.start_mark.column
            is_list = isinstance(token, yaml.BlockSequenceStartToken)
            self.blocks.append(_Block(column, self._column_of_child(), is_list))

    def _indentless(self, token: Any) -> None:
        """Open or close a list that is not indented below its key; the scanner does not."""
        if self.flows or not self.blocks:
            return
        top = self.blocks[-1]
        if isinstance(token, yaml.BlockEntryToken) and not top.is_list:
            column = self._column_of_child()
            self.blocks.append(_Block(token.start_mark.column, column, True, is_indentless=True))
        elif isinstance(token, yaml.KeyToken) and top.is_indentless:
            self.blocks.pop()

    def _open_flow(self, line: int) -> None:
        if not self.flows:
            indent = max(self.line_indent, self._base)
        elif self.flows[-1].line == line:
            indent = self.flows[-1].indent
        else:
            indent = self.line_indent
        self.flows.append(_Flow(indent, line))

    def _column_of_child(self) -> int:
        return self.blocks[-1].new_column + INDENT if self.blocks else 0

    @property
    def _base(self) -> int:
        """Return the column that the content of a flow collection is indented from."""
        if not self.blocks:
            return 0
        top = self.blocks[-1]
        return top.new_column + INDENT if top.is_list else top.new_column

    # White space

    def _between(self, gap: _Gap, token: Any, before: list[_Block]) -> None:
        if self.previous is not None and gap.breaks == 0:
            self.parts.append(self._space(token))
            return
        if self.previous is not None:
            self.parts.append(f"  {gap.trailing}" if gap.trailing else "")
            self.parts.append("\n")
        elif gap.trailing:  # a comment at the start of the text
            gap.comments.insert(0, _Comment(gap.trailing, 0, False))
        column = self._column(token)
        self._comments(gap, before, column)
        if gap.has_blank_after and self._has_content() and not isinstance(token, _CLOSING):
            self.parts.append("\n")
        self.parts.append(" " * column)
        self.line_indent = column

    def _comments(self, gap: _Gap, before: list[_Block], column: int) -> None:
        opens = len(self.blocks) > len(before)
        limit = 10**9
        for comment in gap.comments:
            new = column
            if not self.flows and not opens:
                limit = min(limit, _column_of(comment, before, column))
                new = max(limit, column)
            if comment.has_blank_before and self._has_content():
                self.parts.append("\n")
            self.parts.append(f"{' ' * new}{comment.text}\n")

    def _has_content(self) -> bool:
        return any(self.parts)

    def _column(self, token: Any) -> int:
        """Return the column of a token that is the first one on its line."""
        if isinstance(token, _MARKERS):
            return 0
        if self.flows:
            indent = self.flows[-1].indent
            return indent if isinstance(token, _CLOSING) else indent + INDENT
        if not self.blocks:
            return 0
        top = self.blocks[-1]
        starts_entry = isinstance(token, yaml.BlockEntryToken) or self._is_key(token)
        return top.new_column if starts_entry else top.new_column + INDENT

    def _is_key(self, token: Any) -> bool:
        """Return whether a token starts a key of the innermost map."""
        return not self.blocks[-1].is_list and token.start_mark.column == self.blocks[-1].column

    def _space(self, token: Any) -> str:
        """Return the space before a token on the line of the token before it."""
        previous = self.previous
        if isinstance(token, yaml.ValueToken):
            return (
                " "
                if isinstance(previous, yaml.AliasToken | yaml.AnchorToken | yaml.TagToken)
                else ""
            )
        if isinstance(token, (yaml.FlowEntryToken, *_CLOSING)):
            # "{a:}" would be one word
            return " " if isinstance(previous, yaml.ValueToken) else ""
        if isinstance(previous, _OPENING):
            return ""
        return " "

    # Tokens

    def _token(self, token: Any) -> tuple[str, int]:
        """Return a token as it is written, and its end in the text."""
        start, end = token.start_mark.index, token.end_mark.index
        written = self.text[start:end]
        if isinstance(token, _CLOSING):
            self.flows.pop()
        if not isinstance(token, yaml.ScalarToken):
            return written.rstrip(), end
        if token.style in _BLOCK_STYLES:
            return self._block_scalar(written, end)
        if "\n" in written:
            indent = self.flows[-1].indent + 2 * INDENT if self.flows else self._scalar_indent()
            written = _reindented(written, indent)
        return written, end

    def _scalar_indent(self) -> int:
        return self.blocks[-1].new_column + INDENT if self.blocks else 0

    def _block_scalar(self, written: str, end: int) -> tuple[str, int]:
        header, _, content = written.partition("\n")
        match = _HEADER.match(header)
        digit = match.group(1) if match else None
        keeps = "+" in (match.group() if match else "")
        around = self.blocks[-1] if self.blocks else _Block(-INDENT, -INDENT, False)
        lines = content.split("\n")
        if digit:
            old = max(around.column, 0) + int(digit)
            new = max(around.new_column, 0) + int(digit)
        else:
            old = next((len(li) - len(li.lstrip(" ")) for li in lines if li.strip(" ")), 0)
            new = around.new_column + INDENT
        if not keeps:
            while lines and not lines[-1].strip(" "):
                end -= len(lines.pop()) + 1
        elif lines and not lines[-1]:
            end -= len(lines.pop()) + 1
        shifted = (f"{' ' * new}{line[old:]}" if line[old:] else "" for line in lines)
        header = _header(header)
        if end == len(self.text):
            # Without a line end behind it, the value has none either.
            header = _HEADER.sub(lambda match: _stripping(match.group()), header, count=1)
        return "\n".join([header, *shifted]), end

    def _finish(self, gap: _Gap, before: list[_Block]) -> None:
        if self.previous is None:
            comments = [gap.trailing] if gap.trailing else []
            self.parts = [f"{text}\n" for text in [*comments, *(c.text for c in gap.comments)]]
            return
        self.parts.append(f"  {gap.trailing}\n" if gap.trailing else "\n")
        limit = 10**9
        for comment in gap.comments:
            limit = min(limit, _column_of(comment, before, 0))
            blank = "\n" if comment.has_blank_before else ""
            self.parts.append(f"{blank}{' ' * limit}{comment.text}\n")


def _column_of(comment: _Comment, before: list[_Block], column: int) -> int:
    """Return the new column of a comment: of the innermost collection that it is indented for."""
    fitting = [block.new_column for block in before if block.column <= comment.column]
    return fitting[-1] if fitting else column


def _header(header: str) -> str:
    """Return the first line of a block scalar, with its comment."""
    indicator, hash_, comment = header.partition("#")
    return (
        f"{indicator.rstrip()}  {_spaced(hash_ + comment.rstrip())}"
        if hash_
        else indicator.rstrip()
    )


def _stripping(indicators: str) -> str:
    """Return the indicators of a block scalar whose value ends without a line end."""
    return f"{indicators.replace('+', '').replace('-', '')}-"


def _reindented(scalar: str, indent: int) -> str:
    """Return a plain or quoted scalar of several lines. Line breaks fold: indents do not count."""
    first, *rest = scalar.split("\n")
    lines = [first if first.endswith("\\ ") else first.rstrip()]
    for line in rest:
        content = line.strip(" \t") if not line.rstrip(" \t").endswith("\\") else line.lstrip(" \t")
        lines.append(f"{' ' * indent}{content}" if content else "")
    return "\n".join(lines)


def _tokens(text: str) -> Iterator[Any]:
    yield from yaml.scan(text, Loader=yaml.CSafeLoader)


def laid_out(text: str) -> str:
    """Return a YAML text with normal indentation and spacing. Raises :class:`yaml.YAMLError`."""
    return _Layout(text).run()
