"""Places of boxes and lines in a picture: layers from left to right, nested graphs inside boxes.

Nodes without an edge are placed in rows below the others. All lengths are in pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, sqrt

from msgspec import Struct

from stoker.cli.graphs.layers import Bend, Point, ordered
from stoker.cli.graphs.model import Graph, Node, label_lines

BOX_WIDTH, LINE_HEIGHT, PADDING = 200.0, 15.0, 8.0
HEADER = 2 * LINE_HEIGHT + PADDING  # of a box with an inner graph
_BETWEEN_LAYERS, _BETWEEN_ROWS, _BEND_HEIGHT = 56.0, 14.0, 6.0
_ROUNDS = 6


class Box(Struct, frozen=True):
    """A node with its place; ``inside`` is relative to the corner of the box."""

    node: Node
    x: float
    y: float
    width: float
    height: float
    inside: Picture | None = None


class Picture(Struct, frozen=True):
    """Boxes and lines. A line has the points through which it passes, always to the right."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[tuple[tuple[float, float], ...], ...]


def picture_of(graph: Graph) -> Picture:
    """Return the picture of a graph."""
    inner = {n.name: picture_of(n.inner) for n in graph.nodes if n.inner and n.inner.nodes}
    sizes = {node.name: _size(node, inner.get(node.name)) for node in graph.nodes}
    linked = {name for node in graph.nodes if node.requires for name in (node.name, *node.requires)}
    columns = _Columns({n.name: n.requires for n in graph.nodes if n.name in linked}, sizes)
    places = columns.places()
    lines = columns.lines()
    ends = [y + sizes[name][1] for name, (_, y) in places.items()]
    bottom = max([*ends, *(y + _BEND_HEIGHT for line in lines for _, y in line)], default=0.0)
    width = max((x + sizes[name][0] for name, (x, _) in places.items()), default=0.0)
    alone = [node.name for node in graph.nodes if node.name not in linked]
    places |= _rows(alone, sizes, width, bottom + 2 * _BETWEEN_ROWS if places else 0.0)
    boxes = tuple(
        Box(node, *places[node.name], *sizes[node.name], inner.get(node.name))
        for node in graph.nodes
    )
    return Picture(
        max((box.x + box.width for box in boxes), default=0.0),
        max([bottom, *(box.y + box.height for box in boxes)]),
        boxes,
        tuple(lines),
    )


def _size(node: Node, inner: Picture | None) -> tuple[float, float]:
    if inner is not None:
        return (
            max(BOX_WIDTH, inner.width + 2 * PADDING),
            HEADER + inner.height + 2 * PADDING,
        )
    return BOX_WIDTH, len(label_lines(node)) * LINE_HEIGHT + 2 * PADDING


def _rows(
    names: Sequence[str], sizes: Mapping[str, tuple[float, float]], width: float, top: float
) -> dict[str, tuple[float, float]]:
    """Place nodes in rows that are about as wide as the rest of the picture."""
    area = sum(sizes[name][0] * sizes[name][1] for name in names)
    widest = max([width, ceil(sqrt(2 * area)), *(sizes[name][0] for name in names)])
    places, x, y, tallest = {}, 0.0, top, 0.0
    for name in names:
        own_width, own_height = sizes[name]
        if x and x + own_width > widest:
            x, y, tallest = 0.0, y + tallest + _BETWEEN_ROWS, 0.0
        places[name] = (x, y)
        x += own_width + _BETWEEN_ROWS
        tallest = max(tallest, own_height)
    return places


class _Columns:
    """Layers as columns, with a centre for each point."""

    def __init__(
        self, requires: Mapping[str, Sequence[str]], sizes: Mapping[str, tuple[float, float]]
    ) -> None:
        self._requires = requires
        self._sizes = sizes
        layered = ordered(requires)
        self._rows, self._edges = layered.rows, layered.edges
        self._before: dict[Point, list[Point]] = {}
        self._after: dict[Point, list[Point]] = {}
        for start, end in self._edges:
            self._after.setdefault(start, []).append(end)
            self._before.setdefault(end, []).append(start)
        self._left: list[float] = []
        x = 0.0
        for row in self._rows:
            self._left.append(x)
            widths = [sizes[point][0] for point in row if isinstance(point, str)]
            x += max(widths, default=0.0) + _BETWEEN_LAYERS
        self._layer = {point: number for number, row in enumerate(self._rows) for point in row}
        self._centre = self._centred()

    def places(self) -> dict[str, tuple[float, float]]:
        """Return the upper left corner of each node."""
        return {
            point: (self._left[layer], self._centre[point] - self._sizes[point][1] / 2)
            for point, layer in self._layer.items()
            if isinstance(point, str)
        }

    def lines(self) -> list[tuple[tuple[float, float], ...]]:
        """Return a line for each dependency."""
        found = []
        for name, needs in self._requires.items():
            for need in needs:
                first, last = self._layer[need], self._layer[name]
                if first >= last:
                    continue  # an edge of a cycle
                line = [(self._left[first] + self._sizes[need][0], self._centre[need])]
                for layer in range(first + 1, last):
                    y = self._centre[Bend(need, layer)]
                    right = self._left[layer + 1] - _BETWEEN_LAYERS
                    line += [(self._left[layer], y), (right, y)]
                line.append((self._left[last], self._centre[name]))
                found.append(tuple(line))
        return found

    def _height(self, point: Point) -> float:
        return self._sizes[point][1] if isinstance(point, str) else _BEND_HEIGHT

    def _centred(self) -> dict[Point, float]:
        """Return the height of each point: as near to its neighbours as the others permit."""
        centre: dict[Point, float] = {}
        for row in self._rows:
            centre |= self._spread(row, dict.fromkeys(row, 0.0))
        for number in range(_ROUNDS):
            is_forward = number % 2 == 0
            neighbours = self._before if is_forward else self._after
            for row in self._rows if is_forward else reversed(self._rows):
                wanted = {}
                for point in row:
                    near = [centre[each] for each in neighbours.get(point, ())]
                    wanted[point] = sum(near) / len(near) if near else centre[point]
                centre |= self._spread(row, wanted)
        top = min((y - self._height(point) / 2 for point, y in centre.items()), default=0.0)
        return {point: y - top for point, y in centre.items()}

    def _spread(self, row: Sequence[Point], wanted: Mapping[Point, float]) -> dict[Point, float]:
        """Return places in the order of the row, without overlaps, nearest to the wanted ones.

        Neighbours that are too close are joined to blocks, each at the mean of the places that its
        members want (the algorithm of pool adjacent violators).
        """
        offsets, offset = [], 0.0
        for point in row:
            half = self._height(point) / 2
            offsets.append(offset + half)
            offset += 2 * half + _BETWEEN_ROWS
        blocks: list[tuple[float, int]] = []  # sum of wanted starts, number of points
        for point, start in zip(row, offsets, strict=True):
            total, count = wanted[point] - start, 1
            while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
                before, more = blocks.pop()
                total, count = total + before, count + more
            blocks.append((total, count))
        starts = [total / count for total, count in blocks for _ in range(count)]
        return {p: s + o for p, s, o in zip(row, starts, offsets, strict=True)}
