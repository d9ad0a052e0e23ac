"""Watch rules: the evaluation of measurements, and its consequences. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from stoker.schema.resource_type.call import Call


class WatchState(StrEnum):
    """The result of a watch rule for its measurements. The values are stored."""

    ALARM = "ALARM"
    NORMAL = "NORMAL"
    NODATA = "NODATA"


Compare = Callable[[float, float], bool]
COMPARISONS: Mapping[str, Compare] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}
_OF_NOTHING = frozenset({"SampleCount", "Sum"})  # statistics that are zero without measurements
_SLACK = 0.5  # tolerated error of sums of times, in seconds


class Measurement(Struct, frozen=True):
    """A value of a metric, or a summary of several values."""

    at: float
    total: float  # the value, or the sum of several
    unit: str | None = None
    count: float = 1.0
    least: float | None = None  # None if all values are the same
    most: float | None = None


def _least(measured: Measurement) -> float:
    return measured.total / measured.count if measured.least is None else measured.least


def _most(measured: Measurement) -> float:
    return measured.total / measured.count if measured.most is None else measured.most


def _count(measured: Sequence[Measurement]) -> float:
    return sum(each.count for each in measured)


def _sum(measured: Sequence[Measurement]) -> float:
    return sum(each.total for each in measured)


STATISTICS: Mapping[str, Callable[[Sequence[Measurement]], float]] = {
    "SampleCount": _count,
    "Average": lambda measured: _sum(measured) / _count(measured),
    "Sum": _sum,
    "Minimum": lambda measured: min(map(_least, measured)),
    "Maximum": lambda measured: max(map(_most, measured)),
}


class WatchRule(Struct, frozen=True):
    """The condition of an alarm."""

    namespace: str
    metric: str
    dimensions: Mapping[str, str]  # a measurement counts if it has all of these
    period: int  # seconds of one value of the statistic, and between two evaluations
    periods: int  # number of consecutive values beyond the threshold
    statistic: str
    comparison: str
    threshold: float
    # References of the resources that are signalled when the state becomes this one.
    actions: Mapping[WatchState, Sequence[Any]]
    description: str = ""
    unit: str | None = None


@runtime_checkable
class WatchesMetric(Protocol):
    """The type stands for a watch rule, which the engine looks after."""

    def rule(self, call: Call) -> WatchRule:
        """The rule that the properties describe."""


def judge(
    rule: WatchRule, measurements: Sequence[Measurement], since: float, end: float
) -> tuple[WatchState, str] | None:
    """Return the state at the ``end`` of a period, and its reason.

    None if the known measurements are too few for another state. ``since`` is the start of the
    watch: earlier periods are not known.
    """
    values = [
        _value(rule, measurements, since, end - (back + 1) * rule.period)
        for back in range(rule.periods)
    ]
    known = [value for value in values if value is not None]
    if not known:
        return WatchState.NODATA, f"no {rule.metric} was measured within {rule.period} s"
    compare = COMPARISONS[rule.comparison]
    calm = [value for value in known if not compare(value, rule.threshold)]
    if calm:
        return WatchState.NORMAL, _reason(rule, calm[:1], "is not")
    if len(known) < rule.periods:
        return None
    return WatchState.ALARM, _reason(rule, known, "is")


def _value(
    rule: WatchRule, measurements: Sequence[Measurement], since: float, begin: float
) -> float | None:
    """Return the statistic of the period with this start; None if it has no value."""
    within = [each for each in measurements if begin < each.at <= begin + rule.period]
    if not within and (rule.statistic not in _OF_NOTHING or begin < since - _SLACK):
        return None
    return STATISTICS[rule.statistic](within)


def _reason(rule: WatchRule, values: Sequence[float], verb: str) -> str:
    listed = ", ".join(f"{value:g}" for value in values)
    return (
        f"{rule.statistic} of {rule.metric} ({listed}) {verb} {rule.comparison} {rule.threshold:g}"
    )
