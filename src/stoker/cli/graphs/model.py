"""Graphs of resources, as the formats draw them.

The sources (``live_graph``, ``template_graph``) produce a :class:`Graph`; a nested stack is a node
with an inner graph, or with counts if it is deeper than requested. Dependencies lead only to nodes
of the same graph. All texts are untrusted: each format escapes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from stoker.cli.console.control_characters import visible
from stoker.kernel.values import replace

SIGNS = {
    "COMPLETE": "✓",
    "IN_PROGRESS": "◐",
    "PAUSED": "‖",
    "FAILED": "✕",
    "WAITING": "○",
}
ORDER = ("FAILED", "PAUSED", "IN_PROGRESS", "WAITING", "COMPLETE")  # the most urgent first
TIMES = "\N{MULTIPLICATION SIGN}"
_LONGEST_NOTE = 80
_MOST_ALIKE = 8  # resources that are drawn one by one although they are alike


# Halves of surrogate pairs have no bytes, and XML has none of the others.
_NOT_TEXT = re.compile("[\ud800-\udfff\ufffe\uffff]")


class Node(Struct, frozen=True):
    """A resource, or several that are alike."""

    name: str
    type_name: str
    status: str = ""  # a key of ``SIGNS``; empty in a template
    note: str = ""  # why it failed or waits
    requires: tuple[str, ...] = ()  # names of nodes of the same graph
    inner: Graph | None = None
    # Number of resources inside, by status, if they are not drawn.
    counts: Mapping[str, int] = field(default_factory=dict)
    alike: int = 1  # number of resources that this node represents

    @property
    def sign(self) -> str:
        """Return the sign of the status; empty in a template."""
        return SIGNS.get(self.status, "")

    @property
    def is_closed(self) -> bool:
        """Return whether it has resources that are not drawn."""
        return bool(self.counts)


class Graph(Struct, frozen=True):
    """The resources of one stack or template."""

    name: str
    nodes: tuple[Node, ...]
    state: str = ""  # as CREATE_COMPLETE; empty in a template
    status: str = ""


def counted(counts: Mapping[str, int]) -> str:
    """Return counts by status in words: ``3 resources`` or ``3 resources: 1 ✕ 2 ✓``."""
    total = sum(counts.values())
    words = f"{total} resource{'' if total == 1 else 's'}"
    parts = [f"{counts[each]} {SIGNS[each]}" for each in ORDER if counts.get(each)]
    return f"{words}: {' '.join(parts)}" if parts else words


def one_line(text: str) -> str:
    """Return a text of others in one line, without characters that a file could not have."""
    return _NOT_TEXT.sub("\ufffd", " ".join(visible(text).split()))


def label_lines(node: Node) -> list[str]:
    """Return the lines of a node's box: name with sign, type, counts and note."""
    name = one_line(node.name)
    first = f"{node.sign} {name}" if node.sign else name
    if node.alike > 1:
        first += f" ({TIMES}{node.alike})"
    lines = [first, one_line(node.type_name)]
    if node.counts:
        lines.append(counted(node.counts))
    if node.note:
        note = one_line(node.note)
        lines.append(note if len(note) <= _LONGEST_NOTE else f"{note[:_LONGEST_NOTE]}…")
    return lines


def count_statuses(nodes: Iterable[Node]) -> dict[str, int]:
    """Return the number of resources by status, with those of nested graphs."""
    found: Counter[str] = Counter()
    for node in nodes:
        found[node.status] += node.alike
        found.update(node.counts)
        if node.inner is not None:
            found.update(count_statuses(node.inner.nodes))
    return dict(found)


def fold(graph: Graph) -> Graph:
    """Join nodes that differ only in their names, if they are many, also in nested graphs."""
    nodes = [
        node if node.inner is None else replace(node, inner=fold(node.inner))
        for node in graph.nodes
    ]
    dependents: dict[str, list[str]] = {}
    for node in nodes:
        for name in node.requires:
            dependents.setdefault(name, []).append(node.name)
    groups: dict[Any, list[Node]] = {}
    for node in nodes:
        needed_by = tuple(dependents.get(node.name, ()))
        shape = (node.type_name, node.status, node.note, frozenset(node.requires), needed_by)
        groups.setdefault(shape, []).append(node)
    joined: dict[str, str] = {}  # name of a node -> name of the node that represents it
    first: dict[str, Node] = {}
    for alike in groups.values():
        if len(alike) > _MOST_ALIKE:
            first[alike[0].name] = together = _joined(alike)
            joined |= {each.name: together.name for each in alike}
    kept = [first.get(n.name, n) for n in nodes if n.name not in joined or n.name in first]
    renamed = tuple(
        replace(node, requires=tuple(dict.fromkeys(joined.get(r, r) for r in node.requires)))
        for node in kept
    )
    return replace(graph, nodes=renamed)


def _joined(alike: Sequence[Node]) -> Node:
    counts = count_statuses(_inside(alike))
    return replace(
        alike[0],
        name=f"{alike[0].name} … {alike[-1].name}",
        inner=None,
        counts=counts,
        alike=len(alike),
    )


def _inside(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes in the nested graphs; counts become nodes without a name."""
    for node in nodes:
        if node.inner is not None:
            yield from node.inner.nodes
        for status, count in node.counts.items():
            yield Node("", "", status, alike=count)


def as_data(graph: Graph, path: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    """Yield the resources as ``--json`` prints them; names are paths."""
    for node in graph.nodes:
        yield {
            "name": "/".join((*path, node.name)),
            "type": node.type_name,
            "status": node.status or None,
            "note": node.note or None,
            "requires": ["/".join((*path, name)) for name in node.requires],
            "resources_inside": node.counts or None,
        }
        if node.inner is not None:
            yield from as_data(node.inner, (*path, node.name))
