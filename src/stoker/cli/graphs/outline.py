"""The tree form: an outline in the order of creation that a person reads at a glance.

A resource is printed once, below the requirement in the last layer; its other requirements are
named after it, unless the lines above it in the outline have them already. Resources inside a
nested stack are indented by another line than those that depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from rich.text import Text

from stoker.cli.graphs.layers import layers_of
from stoker.cli.graphs.model import TIMES, Graph, Node, count_statuses, counted, one_line

COLOURS = {
    "COMPLETE": "green",
    "FAILED": "bold red",
    "PAUSED": "bold yellow",
    "IN_PROGRESS": "yellow",
    "WAITING": "cyan",
}
_LONGEST_NOTE = 160
_DEEPEST = 24  # Deeper resources start again at the margin.
_INSIDE = "┆ "


class _Outline(Struct, frozen=True):
    """One graph with the place of each node in the outline."""

    nodes: Mapping[str, Node]
    below: Mapping[str | None, Sequence[str]]  # None: nodes at the margin
    above: Mapping[str, str]  # node -> the requirement below which it is printed


def outline(graph: Graph) -> Iterator[Text]:
    """Yield the lines of a graph."""
    layers = layers_of({node.name: node.requires for node in graph.nodes})
    depth = max(layers.values(), default=-1) + 1
    head = Text(one_line(graph.name), "bold")
    if graph.state:
        head.append(f"  {graph.state}", COLOURS.get(graph.status, "yellow"))
    words = f"{counted(count_statuses(graph.nodes))}, {depth} layer{'' if depth == 1 else 's'}"
    yield head.append(f"  {words}", "dim")
    yield from _lines(graph, "")


def _lines(graph: Graph, margin: str) -> Iterator[Text]:
    """Yield the lines of the nodes of a graph. Recursive for nested stacks only."""
    tree = _outline(graph)
    pending = [(name, margin, margin) for name in reversed(tree.below.get(None, ()))]
    while pending:
        name, first, rest = pending.pop()
        node, dependents = tree.nodes[name], tree.below.get(name, ())
        yield Text(first, "dim").append(_line(node, _other_requirements(node, tree)))
        if node.inner is not None:
            stem = "│ " if dependents else "  "
            yield from _lines(node.inner, f"{rest}{stem}{_INSIDE}")
        for number, each in enumerate(reversed(dependents)):
            fork, stem = ("└─ ", "   ") if number == 0 else ("├─ ", "│  ")
            pending.append((each, rest + fork, rest + stem))


def _outline(graph: Graph) -> _Outline:
    layers = layers_of({node.name: node.requires for node in graph.nodes})
    above: dict[str, str] = {}
    depths: dict[str, int] = {}
    for node in sorted(graph.nodes, key=lambda node: layers[node.name]):
        earlier = [name for name in node.requires if layers.get(name, 0) < layers[node.name]]
        last = max(earlier, key=layers.__getitem__, default=None)
        if last is not None and depths[last] < _DEEPEST:
            above[node.name] = last
        depths[node.name] = depths[above[node.name]] + 1 if node.name in above else 0
    below: dict[str | None, list[str]] = {}
    for node in graph.nodes:
        below.setdefault(above.get(node.name), []).append(node.name)
    # Leaves first: long branches do not separate a resource from its small dependents.
    for names in below.values():
        names.sort(key=lambda name: bool(below.get(name)))
    below[None] = sorted(below.get(None, ()), key=lambda name: not below.get(name))
    return _Outline({node.name: node for node in graph.nodes}, below, above)


def _other_requirements(node: Node, tree: _Outline) -> list[str]:
    """Return the requirements that are neither above a node in the outline nor named there."""
    others = set(node.requires)
    step = tree.above.get(node.name)
    while step is not None and others:
        others.discard(step)
        others.difference_update(tree.nodes[step].requires)
        step = tree.above.get(step)
    return [name for name in node.requires if name in others]


def _line(node: Node, others: Sequence[str]) -> Text:
    colour = COLOURS.get(node.status, "")
    line = Text()
    if node.sign:
        line.append(f"{node.sign} ", colour)
    line.append(one_line(node.name), colour if node.status != "COMPLETE" else "")
    if node.alike > 1:
        line.append(f" ({TIMES}{node.alike})")
    line.append(f"  {one_line(node.type_name)}", "dim")
    if node.counts:
        line.append(f"  [{counted(node.counts)}]", "dim")
    if others:
        line.append(f"  ← {', '.join(map(one_line, others))}", "blue")
    if node.note:
        style = colour if node.status in ("FAILED", "PAUSED") else "italic"
        line.append(f"  {one_line(node.note)[:_LONGEST_NOTE]}", style)
    return line
