"""Metrics that are put together when they are asked for: ``(aggregate mean (metric cpu mean))``."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.metrics.errors import invalid, missing
from localcloud.metrics.model.series import METHODS, Points, Span, reduce, reduced

_DEEPEST = 20
_MOST_WORDS = 2000
_MOST_SERIES = 1000
Grid = Mapping[float, Points]  # points by granularity
Fetch = Callable[[str, str], "list[Line]"]  # returns the metrics of a name or id by a method


class Line(Struct, frozen=True):
    """Values with the names that the response uses; without names for an aggregate."""

    names: tuple[str, ...]
    grid: Grid


BINARY: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b, "add": lambda a, b: a + b,
    "-": lambda a, b: a - b, "sub": lambda a, b: a - b,
    "*": lambda a, b: a * b, "mul": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.nan, "div": lambda a, b: a / b if b else math.nan,
    "%": lambda a, b: a % b if b else math.nan, "mod": lambda a, b: a % b if b else math.nan,
    "<": lambda a, b: float(a < b), "lt": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b), "le": lambda a, b: float(a <= b),
    ">": lambda a, b: float(a > b), "gt": lambda a, b: float(a > b),
    ">=": lambda a, b: float(a >= b), "ge": lambda a, b: float(a >= b),
    "==": lambda a, b: float(a == b), "eq": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b), "ne": lambda a, b: float(a != b),
    "and": lambda a, b: float(bool(a) and bool(b)), "or": lambda a, b: float(bool(a) or bool(b)),
}  # fmt: skip
UNARY: Mapping[str, Callable[[float], float]] = {
    "abs": abs,
    "absolute": abs,
    "neg": lambda a: -a,
    "negative": lambda a: -a,
    "ceil": lambda a: float(math.ceil(a)),
    "floor": lambda a: float(math.floor(a)),
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else math.nan,
}
_WORD = re.compile(r"[()]|[^\s()]+")


def parsed(operations: Any) -> Any:
    """Return operations as nested lists; raises BadRequestError."""
    if isinstance(operations, str):
        words = _WORD.findall(operations)
        if len(words) > _MOST_WORDS:
            raise invalid("the operations are too long")
        operations = _nested(words)
    _check(operations, 0)
    return operations


def _nested(words: Sequence[str]) -> Any:
    open_lists: list[list[Any]] = [[]]
    for word in words:
        if word == "(":
            open_lists.append([])
        elif word == ")" and len(open_lists) > 1:
            closed = open_lists.pop()
            open_lists[-1].append(closed)
        elif word == ")":
            raise invalid("operations: a bracket is not opened")
        else:
            open_lists[-1].append(_atom(word))
    if len(open_lists) != 1 or len(open_lists[0]) != 1:
        raise invalid("operations: one list in brackets is expected")
    return open_lists[0][0]


def _atom(word: str) -> Any:
    try:
        return float(word)
    except ValueError:
        return word.strip("'\"")


def _check(operations: Any, depth: int) -> None:
    if depth > _DEEPEST:
        raise invalid(f"operations are deeper than {_DEEPEST}")
    if isinstance(operations, list):
        if not operations or len(operations) > _MOST_WORDS:
            raise invalid("each operation is a list that begins with its name")
        for each in operations:
            _check(each, depth + 1)
    elif not isinstance(operations, str | int | float):
        raise invalid("operations are lists, texts and numbers")


class Evaluation(Struct, frozen=True):
    """Carries operations out."""

    fetch: Fetch
    # Per cent of the metrics that must have a point for it to be in what is put together.
    overlap: float = 100.0
    fill: float | None = None  # stands for points that are not there; not a number leaves them out

    def run(self, operations: Any) -> list[Line]:
        """Return the metrics that operations yield; raises ApiError."""
        found = self._evaluate(operations)
        if isinstance(found, float):
            raise invalid("the operations yield no metric")
        if len(found) > _MOST_SERIES:
            raise invalid(f"more than {_MOST_SERIES} metrics are meant")
        return found

    def _evaluate(self, operation: Any) -> list[Line] | float:
        if isinstance(operation, int | float):
            return float(operation)
        if not isinstance(operation, list) or not isinstance(operation[0], str):
            raise invalid("an operation begins with its name")
        name, arguments = operation[0], operation[1:]
        if name == "metric":
            return self._metrics(arguments)
        if name in ("aggregate", "resample", "rolling"):
            return self._combined(name, arguments)
        if name in UNARY and len(arguments) == 1:
            return self._mapped(UNARY[name], arguments[0])
        if name in BINARY and len(arguments) == 2:
            return self._binary(BINARY[name], *map(self._evaluate, arguments))
        raise invalid(f"operation '{name[:50]}' is not known, or takes other arguments")

    def _metrics(self, arguments: list[Any]) -> list[Line]:
        pairs = arguments if arguments and isinstance(arguments[0], list) else [arguments]
        found = []
        for pair in pairs:
            if len(pair) != 2 or not all(isinstance(each, str) for each in pair):
                raise invalid("'metric' takes a metric and an aggregation method")
            found += self.fetch(*pair)
        if not found:
            raise missing("Metrics", ", ".join(str(pair[0]) for pair in pairs)[:200])
        return found

    def _combined(self, name: str, arguments: list[Any]) -> list[Line]:
        method = arguments[0] if arguments else None
        if method not in METHODS or str(method).startswith("rate:"):
            raise invalid(f"'{name}' takes an aggregation method")
        found = self._evaluate(arguments[-1])
        if isinstance(found, float):
            raise invalid(f"'{name}' takes metrics")
        if name == "aggregate" and len(arguments) == 2:
            return [Line((), self._joined(method, found))]
        if len(arguments) != 3 or not isinstance(arguments[1], int | float) or arguments[1] <= 0:
            raise invalid(f"'{name}' takes a method, a number and metrics")
        change = _resampled if name == "resample" else _rolled
        return [Line(each.names, change(method, arguments[1], each.grid)) for each in found]

    def _joined(self, method: str, found: Iterable[Line]) -> Grid:
        grids = [each.grid for each in found]
        granularities = set(grids[0]).intersection(*grids)
        return {
            granularity: self._together(method, [grid[granularity] for grid in grids])
            for granularity in sorted(granularities, reverse=True)
        }

    def _together(self, method: str, columns: Sequence[Points]) -> Points:
        found = {}
        for time in sorted(set().union(*columns)):
            values = [column[time] for column in columns if time in column]
            if self.fill is not None:
                missing_values = len(columns) - len(values)
                values += [] if math.isnan(self.fill) else [self.fill] * missing_values
            elif len(values) * 100 < self.overlap * len(columns):
                continue
            found[time] = reduce(method, values)
        return {time: value for time, value in found.items() if not math.isnan(value)}

    def _mapped(self, change: Callable[[float], float], argument: Any) -> list[Line] | float:
        found = self._evaluate(argument)
        if isinstance(found, float):
            return change(found)
        return [Line(each.names, _each(each.grid, change)) for each in found]

    def _binary(
        self,
        join: Callable[[float, float], float],
        left: list[Line] | float,
        right: list[Line] | float,
    ) -> list[Line] | float:
        if isinstance(left, float) and isinstance(right, float):
            return join(left, right)
        if isinstance(right, float):
            return [Line(s.names, _each(s.grid, lambda a: join(a, right))) for s in left]  # type: ignore[union-attr]
        if isinstance(left, float):
            return [Line(s.names, _each(s.grid, lambda b: join(left, b))) for s in right]
        if len(left) != len(right):
            raise invalid("operations join as many metrics as there are on the other side")
        return [
            Line(a.names, _both(a.grid, b.grid, join)) for a, b in zip(left, right, strict=True)
        ]


def _each(grid: Grid, change: Callable[[float], float]) -> Grid:
    changed = {g: {t: change(v) for t, v in points.items()} for g, points in grid.items()}
    return {g: _numbers(points) for g, points in changed.items()}


def _both(left: Grid, right: Grid, join: Callable[[float, float], float]) -> Grid:
    return {
        g: _numbers({t: join(v, right[g][t]) for t, v in points.items() if t in right[g]})
        for g, points in left.items()
        if g in right
    }


def _numbers(points: Points) -> Points:
    return {time: value for time, value in points.items() if math.isfinite(value)}


def _resampled(method: str, granularity: float, grid: Grid) -> Grid:
    finest = grid[min(grid)]
    return {granularity: reduced(sorted(finest.items()), method, granularity, Span())}


def _rolled(method: str, window: float, grid: Grid) -> Grid:
    count = int(window)

    def rolled(points: Points) -> Points:
        ordered = sorted(points.items())
        return {
            ordered[end][0]: reduce(method, [v for _, v in ordered[end - count + 1 : end + 1]])
            for end in range(max(count - 1, 0), len(ordered))
        }

    return {g: _numbers(rolled(points)) for g, points in grid.items()}


def answered(found: Sequence[Line], shown: Callable[[float], str]) -> Document:
    """Return metrics as responses have them: under their names, or as one aggregate."""
    measures: Document = {}
    for each in found:
        place = measures
        names = each.names or ("aggregated",)
        for name in names[:-1]:
            place = place.setdefault(name, {})
        place[names[-1]] = rows(each.grid, shown)
    return measures


def rows(grid: Grid, shown: Callable[[float], str]) -> list[list[Any]]:
    """Return points as rows of time, granularity and value."""
    return [
        [shown(time), granularity, value]
        for granularity, points in grid.items()
        for time, value in sorted(points.items())
    ]
