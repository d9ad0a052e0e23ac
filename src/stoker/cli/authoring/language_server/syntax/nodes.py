"""The nodes of a document: values with the offsets of their first and last character.

The tree is that of the text, so that a tag such as ``!Ref`` is a property of a node. Paths in the
data have a key in its place: :func:`node_at` and :func:`steps_to` translate between both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from stoker.kernel.diagnostics import Path
from stoker.template.source.tags import short_tag
from stoker.template.source.yaml_data import text_key

MAX_DEPTH = 100
_NUMERIC = frozenset("+-.0123456789")
_LONGEST_NUMBER = 100
_WORDS = {
    **dict.fromkeys(("yes", "true", "on"), True),
    **dict.fromkeys(("no", "false", "off"), False),
    **dict.fromkeys(("", "~", "null"), None),
    **dict.fromkeys((".inf", "+.inf"), math.inf),
    "-.inf": -math.inf,
    ".nan": math.nan,
}


@dataclass(slots=True, kw_only=True)
class Node:
    """A value of the document."""

    start: int
    end: int
    tag: str | None = None
    anchor: str | None = None

    def holds(self, offset: int) -> bool:
        """Return whether an offset is inside the node, or at its end."""
        return self.start <= offset <= self.end


@dataclass(slots=True, kw_only=True)
class Scalar(Node):
    """Text, a number or another simple value."""

    value: str
    style: str = ""  # empty for a plain one, or the character that starts it: " ' | >
    inner: int = 0  # offset of the first character of the value

    @property
    def inner_end(self) -> int:
        """Return the offset of the end of the value."""
        return self.end - 1 if self.style in ("'", '"') and self.end - 1 > self.start else self.end


@dataclass(slots=True, kw_only=True)
class Alias(Node):
    """A reference to the node with an anchor."""

    name: str


@dataclass(slots=True, kw_only=True)
class Entry:
    """A key with its value. Without a colon the key is still being written."""

    key: Scalar
    value: Node | None = None
    has_colon: bool = True

    @property
    def start(self) -> int:
        """Return the offset of the key."""
        return self.key.start

    @property
    def end(self) -> int:
        """Return the offset of the end of the value."""
        return self.key.end if self.value is None else self.value.end


@dataclass(slots=True, kw_only=True)
class Mapping(Node):
    """Entries with keys."""

    entries: list[Entry] = field(default_factory=list)
    is_flow: bool = False
    indent: int = 0

    def entry(self, key: str) -> Entry | None:
        """Return the entry of a key; the last one, as YAML takes it."""
        return next((each for each in reversed(self.entries) if each.key.value == key), None)

    def value(self, key: str) -> Node | None:
        """Return the value of a key."""
        entry = self.entry(key)
        return None if entry is None else entry.value

    @property
    def keys(self) -> list[str]:
        """Return the keys."""
        return [entry.key.value for entry in self.entries]


@dataclass(slots=True, kw_only=True)
class Sequence(Node):
    """A list of values; None for an item that is not written yet."""

    items: list[Node | None] = field(default_factory=list)
    is_flow: bool = False
    indent: int = 0


@dataclass(slots=True)
class Step:
    """A node on the way to an offset, with its path in the data.

    ``entry`` is the entry whose key or value contains the offset.
    """

    node: Node
    path: Path
    entry: Entry | None = None
    is_key: bool = False


def function_of(node: Node) -> str | None:
    """Return the function that the tag of a node abbreviates."""
    call = short_tag(node.tag, None) if node.tag else None
    return None if call is None else next(iter(call))


def steps_to(root: Node | None, offset: int) -> list[Step]:
    """Return the nodes that contain an offset, the outermost first."""
    steps: list[Step] = []
    node, path = root, cast("Path", ())
    while node is not None and node.holds(offset):
        function = function_of(node)
        if function is not None:
            path = (*path, function)
        step = Step(node, path)
        steps.append(step)
        if isinstance(node, Mapping):
            entry = next(
                (each for each in node.entries if each.start <= offset <= each.end), None
            ) or next((e for e in node.entries if e.value and e.value.holds(offset)), None)
            step.entry = entry
            if entry is None:
                return steps
            step.is_key = entry.key.holds(offset)
            path = (*path, entry.key.value)
            node = entry.key if step.is_key else entry.value
            if step.is_key:
                steps.append(Step(entry.key, path, entry, is_key=True))
                return steps
        elif isinstance(node, Sequence):
            index, node = next(
                ((i, each) for i, each in enumerate(node.items) if each and each.holds(offset)),
                (0, None),
            )
            path = (*path, index)
        else:
            return steps
    return steps


def node_at(root: Node | None, path: Path) -> Node | None:
    """Return the node at a path in the data, or None."""
    node = root
    for part in path:
        if node is None:
            return None
        if part == function_of(node):
            continue
        if isinstance(node, Mapping):
            node = node.value(str(part))
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        elif isinstance(node, Scalar) and node.tag is not None:
            return node  # a part of the short form: !GetAtt name.attribute
        else:
            return None
    return node


def walk(node: Node | None) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the text."""
    pending = [node]
    while pending:
        found = pending.pop()
        if found is None:
            continue
        yield found
        if isinstance(found, Mapping):
            for entry in reversed(found.entries):
                pending += [entry.value, entry.key]
        elif isinstance(found, Sequence):
            pending += reversed(found.items)


def data_of(root: Node | None) -> Any:
    """Return the data of a tree, as far as it is complete."""
    return _Data().of(root)


class _Data:
    """Converts nodes to data. Aliases have the data of their anchors."""

    def __init__(self) -> None:
        self._anchors: dict[str, Any] = {}

    def of(self, node: Node | None) -> Any:
        """Return the data of a node."""
        value = self._plain(node)
        if node is not None and node.tag is not None:
            value = short_tag(node.tag, value) or value
        if node is not None and node.anchor is not None:
            self._anchors[node.anchor] = value
        return value

    def _plain(self, node: Node | None) -> Any:
        if isinstance(node, Mapping):
            return self._map(node)
        if isinstance(node, Sequence):
            return [self.of(item) for item in node.items]
        if isinstance(node, Alias):
            return self._anchors.get(node.name)
        if isinstance(node, Scalar):
            return scalar_value(node)
        return None

    def _map(self, node: Mapping) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        found: dict[str, Any] = {}
        for entry in node.entries:
            value = self.of(entry.value)
            if entry.key.value == "<<" and not entry.key.style:
                for source in value if isinstance(value, list) else [value]:
                    merged = {**(source if isinstance(source, dict) else {}), **merged}
            else:
                found[text_key(scalar_value(entry.key))] = value
        return {**merged, **found} if merged else found


def scalar_value(node: Scalar) -> Any:
    """Return the value of a scalar: plain text may be a number, a boolean or null."""
    text = node.value
    if node.style:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[:1] in _NUMERIC and len(text) < _LONGEST_NUMBER:
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    return text
