"""Layers of a graph: each node comes after the nodes that it requires.

``layers_of`` gives the length of the longest path to each node. ``ordered`` sorts the nodes of each
layer so that few edges cross, by medians of their neighbours. An edge over several layers passes
through a bend in each of them; the edges of one node share their bends.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from statistics import median_low

from msgspec import Struct

_SWEEPS = 8
_MOST_COUNTED = 20_000  # edges; in larger graphs the last order is used


class Bend(Struct, frozen=True):
    """A point in a layer through which the edges of a node pass."""

    source: str
    layer: int


Point = str | Bend


class Layered(Struct, frozen=True):
    """Points by layer, and the edges between points of neighbouring layers."""

    rows: tuple[tuple[Point, ...], ...]
    edges: tuple[tuple[Point, Point], ...]


def layers_of(requires: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the layer of each node, from 0. A cycle is broken at one of its nodes."""
    dependents: dict[str, list[str]] = {name: [] for name in requires}
    left = {}
    for name, needs in requires.items():
        known = {need for need in needs if need in requires and need != name}
        left[name] = len(known)
        for need in known:
            dependents[need].append(name)
    layers = dict.fromkeys(requires, 0)
    ready = [name for name, count in left.items() if not count]
    done: set[str] = set()
    waiting = iter(requires)
    while len(done) < len(requires):
        if not ready:  # Only cycles are left: break one.
            ready = [next(name for name in waiting if name not in done)]
        following = []
        for name in ready:
            done.add(name)
            for dependent in dependents[name]:
                left[dependent] -= 1
                if dependent not in done:
                    layers[dependent] = max(layers[dependent], layers[name] + 1)
                    if left[dependent] == 0:
                        following.append(dependent)
        ready = following
    return layers


def ordered(requires: Mapping[str, Sequence[str]]) -> Layered:
    """Return the layers of a graph, each in an order with few crossings."""
    layers = layers_of(requires)
    edges = _short_edges(requires, layers)
    rows: list[list[Point]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for name, layer in layers.items():
        rows[layer].append(name)
    bends = dict.fromkeys(point for edge in edges for point in edge if isinstance(point, Bend))
    for bend in bends:
        rows[bend.layer].append(bend)
    return Layered(tuple(map(tuple, _least_crossing(rows, edges))), tuple(edges))


def _short_edges(
    requires: Mapping[str, Sequence[str]], layers: Mapping[str, int]
) -> list[tuple[Point, Point]]:
    """Return edges that span one layer each. Edges against the layers are left out."""
    found: dict[tuple[Point, Point], None] = {}
    for name, needs in requires.items():
        for need in needs:
            if need not in layers or layers[need] >= layers[name]:
                continue
            before: Point = need
            for layer in range(layers[need] + 1, layers[name]):
                bend = Bend(need, layer)
                found[before, bend] = None
                before = bend
            found[before, name] = None
    return list(found)


def _least_crossing(
    rows: list[list[Point]], edges: Sequence[tuple[Point, Point]]
) -> list[list[Point]]:
    before: dict[Point, list[Point]] = {}
    after: dict[Point, list[Point]] = {}
    for start, end in edges:
        after.setdefault(start, []).append(end)
        before.setdefault(end, []).append(start)
    best, fewest = rows, _crossings(rows, after)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        rows = [list(row) for row in rows]
        if sweep % 2 == 0:
            for number in range(1, len(rows)):
                rows[number] = _by_median(rows[number], rows[number - 1], before)
        else:
            for number in range(len(rows) - 2, -1, -1):
                rows[number] = _by_median(rows[number], rows[number + 1], after)
        crossings = _crossings(rows, after) if len(edges) <= _MOST_COUNTED else fewest
        if crossings <= fewest:
            best, fewest = rows, crossings
    return best


def _by_median(
    row: Sequence[Point], other: Sequence[Point], neighbours: Mapping[Point, Sequence[Point]]
) -> list[Point]:
    """Return a row, sorted by the median position of the neighbours in another row."""
    places = {point: place for place, point in enumerate(other)}
    own = {point: place for place, point in enumerate(row)}

    def key(point: Point) -> tuple[float, int]:
        near = [places[each] for each in neighbours.get(point, ())]
        return (median_low(near) if near else own[point], own[point])

    return sorted(row, key=key)


def _crossings(rows: Sequence[Sequence[Point]], after: Mapping[Point, Sequence[Point]]) -> int:
    """Return the number of pairs of edges that cross."""
    total = 0
    for row, following in pairwise(rows):
        places: Mapping[Hashable, int] = {point: place for place, point in enumerate(following)}
        seen: list[int] = []
        for point in row:
            ends = sorted(places[each] for each in after.get(point, ()))
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
