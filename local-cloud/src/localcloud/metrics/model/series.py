"""Measures of one metric, and their aggregates over spans of time."""

import math
import statistics
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise

from msgspec import Struct

MOST = 4096  # measures that are kept of a metric: the newest
RATE = "rate:"
_PERCENTILES = {f"{number}pct": number for number in range(1, 100)}
_REDUCE: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "sum": math.fsum,
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "max": max,
    "min": min,
    "std": lambda values: statistics.stdev(values) if len(values) > 1 else math.nan,
    "median": statistics.median,
    "count": lambda values: float(len(values)),
    "nunique": lambda values: float(len(set(values))),
}
# The names of all ways to make one value of many.
METHODS = frozenset(
    {*_REDUCE, *_PERCENTILES, *(f"{RATE}{name}" for name in (*_REDUCE, *_PERCENTILES))}
)


class Span(Struct, frozen=True):
    """The requested part of a metric, in seconds; the end is excluded."""

    start: float = -math.inf
    stop: float = math.inf


Points = dict[float, float]  # values by the beginnings of their spans of time


class Series:
    """Measures in the order of their times; of two at the same time, the later one counts."""

    def __init__(self, measures: Iterable[tuple[float, float]] = ()) -> None:
        self._times = array("d")
        self._values = array("d")
        self.add(measures)

    def add(self, measures: Iterable[tuple[float, float]]) -> None:
        """Take measures: pairs of time and value."""
        for time, value in measures:
            place = bisect_left(self._times, time)
            if place < len(self._times) and self._times[place] == time:
                self._values[place] = value
            else:
                self._times.insert(place, time)
                self._values.insert(place, value)
        surplus = len(self._times) - MOST
        if surplus > 0:
            del self._times[:surplus]
            del self._values[:surplus]

    def measures(self, start: float = -math.inf) -> list[tuple[float, float]]:
        """Return the measures from a time on."""
        place = bisect_left(self._times, start)
        return list(zip(self._times[place:], self._values[place:], strict=True))

    def points(self, method: str, granularity: float, span: Span) -> Points:
        """Return the measures of each span of this many seconds as one value."""
        begin = _floor(span.start, granularity)
        if not method.startswith(RATE):
            return reduced(self.measures(begin), method, granularity, span)
        found = _differences(self.measures(self._before(begin)))
        return reduced(found, method.removeprefix(RATE), granularity, span)

    def _before(self, time: float) -> float:
        """Return when the last measure before a time was."""
        place = bisect_left(self._times, time)
        return self._times[place - 1] if place else -math.inf

    def growth(self, method: str, granularity: float, span: Span) -> Points:
        """Return the growth of a counter per this many seconds, from one span to the next."""
        begin = _floor(self._before(_floor(span.start, granularity)), granularity)
        spans = groupby(self.measures(begin), lambda pair: _floor(pair[0], granularity))
        firsts = [next(pairs) for _, pairs in spans]
        grown = [
            (time, (value - before) * granularity / (time - earlier))
            for (earlier, before), (time, value) in pairwise(firsts)
        ]
        return reduced(grown, method.removeprefix(RATE), granularity, span)


def reduced(
    measures: Sequence[tuple[float, float]], method: str, granularity: float, span: Span
) -> Points:
    """Return measures in order as one value for each span of this many seconds."""
    first = _floor(span.start, granularity)
    spans = groupby(
        (pair for pair in measures if first <= pair[0] < span.stop),
        lambda pair: _floor(pair[0], granularity),
    )
    values = ((start, reduce(method, [value for _, value in pairs])) for start, pairs in spans)
    return {start: value for start, value in values if not math.isnan(value)}


def reduce(method: str, values: Sequence[float]) -> float:
    """Return one value for many; NaN if the method gives none."""
    if method in _PERCENTILES:
        return _percentile(values, _PERCENTILES[method])
    return _REDUCE[method](values)


def _percentile(values: Sequence[float], percent: int) -> float:
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _differences(measures: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(time, value - before) for (_, before), (time, value) in pairwise(measures)]


def _floor(time: float, granularity: float) -> float:
    return time if math.isinf(time) else math.floor(time / granularity) * granularity
