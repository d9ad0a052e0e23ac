"""Finds positions in a text for paths in its document, in one scan."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import yaml

from stoker.kernel.diagnostics import Path, Position
from stoker.template.source.tags import short_tag

Tree = dict[str, "Tree"]


def positions(text: str, file: str | None, paths: Iterable[Path]) -> dict[Path, Position]:
    """Return the position of each path, or of its nearest ancestor in the text.

    The text was read before. If it is not YAML (JSON with tabs, for instance), nothing is found.
    """
    pending, top = list(paths), _Found(None)
    with suppress(yaml.YAMLError):
        _scan(text, file, _tree_of(pending), top)
    placed = {}
    for path in pending:
        found, position = top, top.position
        for name in map(str, path):
            if name not in found.below:
                break
            found = found.below[name]
            position = found.position
        if position is not None:
            placed[path] = position
    return placed


@dataclass(slots=True)
class _Found:
    """The position of a value, and of the requested values inside it."""

    position: Position | None
    below: dict[str, _Found] = field(default_factory=dict)


def _tree_of(paths: Iterable[Path]) -> Tree:
    root: Tree = {}
    for path in paths:
        tree = root
        for part in path:
            tree = tree.setdefault(str(part), {})
    return root


@dataclass(slots=True)
class _Open:
    """A list or map on the way to a requested path; ``tree`` has the requested parts below."""

    tree: Tree
    found: _Found
    is_map: bool
    key: str | None = None
    index: int = -1


def _scan(text: str, file: str | None, root: Tree, top: _Found) -> None:
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
        place = _place(event, opened, root, top)
        if place is None:
            skipped += starts
            continue
        found, tree, mark = place
        if mark is not None:
            found.position = Position(file, mark.line + 1, mark.column + 1)
        function = _tagged(event)
        if tree is not None and function in tree:
            mark = event.start_mark
            called = _Found(Position(file, mark.line + 1, mark.column + 1))
            found.below[function] = called
            found, tree = called, tree[function]
        if starts and tree is not None:
            opened.append(_Open(tree, found, kind is yaml.MappingStartEvent))
        elif starts:
            skipped += 1


def _tagged(event: Any) -> str | None:
    """Return the function that the tag of a value abbreviates."""
    tag = None if type(event) is yaml.AliasEvent else event.tag
    call = short_tag(tag, None) if tag else None
    return None if call is None else next(iter(call))


def _key(event: Any) -> str:
    """Return a key as in the data: unquoted words may be booleans or null."""
    text: str = event.value
    return _WORDS.get(text.lower(), text) if event.implicit[0] else text


_WORDS = {
    **dict.fromkeys(("yes", "on", "true"), "true"),
    **dict.fromkeys(("no", "off", "false"), "false"),
    **dict.fromkeys(("", "~", "null"), "null"),
}

Place = tuple[_Found, Tree | None, Any]


def _place(event: Any, opened: list[_Open], root: Tree, top: _Found) -> Place | None:
    """Read a value, with the requested parts below it, and its mark.

    None if it was not requested.
    """
    if not opened:
        return top, root, event.start_mark
    around = opened[-1]
    if not around.is_map:
        around.index += 1
        key = str(around.index)
    elif around.key is None:
        key = around.key = _key(event) if type(event) is yaml.ScalarEvent else ""
    else:
        key, around.key = around.key, None
        if key not in around.tree:
            return None
        return around.found.below[key], around.tree[key], None
    if key not in around.tree:
        return None
    # The last of equal keys counts.
    found = around.found.below[key] = _Found(None)
    return found, None if around.is_map else around.tree[key], event.start_mark
