"""Scalars of a YAML text as they are written: with quotes or without, and with their places."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml
from msgspec import Struct

from stoker.kernel.diagnostics import Path


class Scalar(Struct, frozen=True):
    """One scalar; line and column count from 1."""

    path: Path  # of the value; for a key, of its value
    value: str
    is_plain: bool  # without quotes, tag or block indicator
    is_key: bool
    is_block: bool
    line: int
    column: int


class Anchor(Struct, frozen=True):
    """An anchor, or its use as an alias."""

    name: str
    is_alias: bool
    line: int
    column: int


class Scan(Struct, frozen=True):
    """The scalars and anchors of a text, in its order; empty if it is not YAML."""

    scalars: tuple[Scalar, ...]
    anchors: tuple[Anchor, ...]


@dataclass(slots=True)
class _Open:
    """A list or map that the scan is in."""

    path: Path
    is_map: bool
    key: str | None = None
    index: int = -1


def scan(text: str) -> Scan:
    """Return the scalars and anchors of a text."""
    scanner = _Scanner()
    with suppress(yaml.YAMLError):
        loader = yaml.CSafeLoader(text)
        while loader.check_event():
            scanner.accept(loader.get_event())
    return Scan(tuple(scanner.scalars), tuple(scanner.anchors))


class _Scanner:
    def __init__(self) -> None:
        self.scalars: list[Scalar] = []
        self.anchors: list[Anchor] = []
        self._opened: list[_Open] = []

    def accept(self, event: Any) -> None:
        """Record one event of the parser."""
        kind = type(event)
        if kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._opened.pop()
            return
        if kind not in _NODES:
            return
        path, is_key = self._place(event)
        if event.anchor is not None:
            mark = event.start_mark
            is_alias = kind is yaml.AliasEvent
            self.anchors.append(Anchor(event.anchor, is_alias, mark.line + 1, mark.column + 1))
        if kind is yaml.ScalarEvent:
            self.scalars.append(_scalar(event, path, is_key=is_key))
        elif kind is not yaml.AliasEvent:
            self._opened.append(_Open(path, kind is yaml.MappingStartEvent))

    def _place(self, event: Any) -> tuple[Path, bool]:
        """Return the path of a node, and whether it is a key."""
        if not self._opened:
            return (), False
        around = self._opened[-1]
        if not around.is_map:
            around.index += 1
            return (*around.path, around.index), False
        if around.key is None:
            around.key = event.value if type(event) is yaml.ScalarEvent else ""
            return (*around.path, around.key), True
        path = (*around.path, around.key)
        around.key = None
        return path, False


_NODES = frozenset(
    (yaml.ScalarEvent, yaml.AliasEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent)
)


def _scalar(event: Any, path: Path, *, is_key: bool) -> Scalar:
    mark = event.start_mark
    return Scalar(
        path=path,
        value=event.value,
        is_plain=bool(event.implicit[0]),
        is_key=is_key,
        is_block=event.style in ("|", ">"),
        line=mark.line + 1,
        column=mark.column + 1,
    )
