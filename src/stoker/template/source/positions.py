"""From paths in a document to positions in its text, in one scan."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

from stoker.kernel.diagnostics import Path, Position

Tree = dict[str, "Tree"]


def positions(text: str, file: str | None, paths: Iterable[Path]) -> dict[Path, Position]:
    """The position of each path, or of its nearest ancestor that the text has.

    The text has been read before; if it is not YAML (JSON with tabs, say), nothing is found.
    """
    wanted = list(paths)
    found: dict[tuple[str, ...], Position] = {}
    with suppress(yaml.YAMLError):
        _scan(text, file, _tree_of(wanted), found)
    placed = {}
    for path in wanted:
        names = tuple(map(str, path))
        for length in range(len(names), -1, -1):
            if names[:length] in found:
                placed[path] = found[names[:length]]
                break
    return placed


def _tree_of(paths: Iterable[Path]) -> Tree:
    root: Tree = {}
    for path in paths:
        tree = root
        for part in path:
            tree = tree.setdefault(str(part), {})
    return root


@dataclass(slots=True)
class _Open:
    """A list or map on the way to a wanted path; ``tree`` is what is wanted below."""

    tree: Tree
    path: tuple[str, ...]
    is_map: bool
    key: str | None = None
    index: int = -1


def _scan(text: str, file: str | None, root: Tree, found: dict[tuple[str, ...], Position]) -> None:
    loader = yaml.CSafeLoader(text)
    opened: list[_Open] = []
    skipped = 0
    while True:
        event: Any = loader.get_event()
        kind = type(event)
        if kind is yaml.StreamEndEvent:
            return
        starts = kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent
        ends = kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent
        if skipped:
            skipped += starts - ends
            continue
        if ends:
            opened.pop()
            continue
        if not starts and kind is not yaml.ScalarEvent and kind is not yaml.AliasEvent:
            continue
        place = _place(event, opened, root)
        if place is None:
            skipped += starts
            continue
        path, tree, mark = place
        if mark is not None:
            if path in found:  # the last of equal keys counts
                _forget(path, found)
            found[path] = Position(file, mark.line + 1, mark.column + 1)
        if starts and tree is not None:
            opened.append(_Open(tree, path, kind is yaml.MappingStartEvent))
        elif starts:
            skipped += 1


def _forget(path: tuple[str, ...], found: dict[tuple[str, ...], Position]) -> None:
    for known in [known for known in found if known[: len(path)] == path]:
        del found[known]


Place = tuple[tuple[str, ...], Tree | None, Any]


def _place(event: Any, opened: list[_Open], root: Tree) -> Place | None:
    """The path of a value, what is wanted below it, and its mark; None for what is unwanted."""
    if not opened:
        return (), root, event.start_mark
    top = opened[-1]
    if not top.is_map:
        top.index += 1
        key = str(top.index)
    elif top.key is None:
        top.key = event.value if type(event) is yaml.ScalarEvent else ""
        if top.key not in top.tree:
            return None
        return (*top.path, top.key), None, event.start_mark
    else:
        key, top.key = top.key, None
    if key not in top.tree:
        return None
    path = (*top.path, key)
    return path, top.tree[key], None if top.is_map else event.start_mark
