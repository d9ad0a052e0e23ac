"""Directed graphs of names: an edge leads from a node to what it needs.

The order itself comes from the standard library's ``graphlib``; this module adds what it lacks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def find_cycle(needs: Mapping[Node, Iterable[Node]]) -> list[Node] | None:
    """A cycle as a list in which each node needs the next and the first stands again at the end."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        cycle: list[Node] = error.args[1]
        return list(reversed(cycle))
    return None


def reverse(needs: Mapping[Node, Iterable[Node]]) -> dict[Node, set[Node]]:
    """The graph with every edge turned round: node -> what needs it."""
    turned: dict[Node, set[Node]] = {node: set() for node in needs}
    for node, wanted in needs.items():
        for need in wanted:
            turned.setdefault(need, set()).add(node)
    return turned
