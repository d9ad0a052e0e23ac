"""Comments that ignore findings.

``# stoker: ignore=RULE,RULE  reason`` ignores findings of these rules in its line, or in the next
line if the comment has a line to itself. ``# stoker: ignore-file=RULE`` ignores them in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

_COMMENT = re.compile(
    r"(?:^|\s)#\s*stoker:\s*ignore(?P<file>-file)?\s*=\s*"
    r"(?P<names>[\w-]+(?:\s*,\s*[\w-]+)*)(?P<reason>.*)$"
)


class Ignore(Struct, frozen=True):
    """One rule in such a comment."""

    name: str
    line: int  # of the comment
    column: int  # of the rule's name; both count from 1
    applies_to: frozenset[int]  # lines; empty for the whole file
    has_reason: bool

    def covers(self, code: str, line: int | None) -> bool:
        """Return whether a finding is ignored."""
        return code == self.name and (not self.applies_to or line in self.applies_to)


def ignores_in(lines: Sequence[str]) -> list[Ignore]:
    """Return the ignored rules in the comments of a text."""
    return [
        ignore
        for number, line in enumerate(lines, 1)
        if "stoker:" in line
        for ignore in _in_line(line, number, lines)
    ]


def _in_line(line: str, number: int, lines: Sequence[str]) -> Iterable[Ignore]:
    match = _COMMENT.search(line.rstrip("\r\n"))
    if match is None:
        return
    applies_to = frozenset[int]() if match["file"] else _covered(number, lines)
    for name in re.finditer(r"[\w-]+", match["names"]):
        column = match.start("names") + name.start() + 1
        has_reason = bool(match["reason"].partition("#")[0].strip(" \t-:"))
        yield Ignore(name[0], number, column, applies_to, has_reason)


def _covered(number: int, lines: Sequence[str]) -> frozenset[int]:
    """Return the line of a comment, and the next line of data if it has a line to itself."""
    if not lines[number - 1].lstrip().startswith("#"):
        return frozenset((number,))
    following = number
    while following < len(lines) and lines[following].lstrip().startswith("#"):
        following += 1
    return frozenset((number, following + 1))
