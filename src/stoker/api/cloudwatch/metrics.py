"""Metrics and their measurements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from stoker.api.cloudwatch.alarms import dimensions, moment
from stoker.api.cloudwatch.call import Call
from stoker.api.cloudwatch.members import Members, dimensions_in
from stoker.api.cloudwatch.pages import paged
from stoker.engine.model.stack_records.watches import Datum
from stoker.engine.service.monitoring.metrics import dimensions_of
from stoker.kernel.errors import (
    INVALID_COMBINATION,
    MISSING_PARAMETER,
    VALUE_ERROR,
    ValidationError,
)
from stoker.schema.watching import STATISTICS, Measurement

_MOST_DATA = 1000  # data per request, as at AWS, like the limits below
_MOST_VALUES = 150
_MOST_LISTED = 500
_MOST_POINTS = 1440


async def put(call: Call) -> dict[str, Any]:
    """Store measurements for the alarms that watch them."""
    namespace = call.input.required("Namespace", 255)
    data = list(_data(call.input))
    if not data:
        raise ValidationError("The request needs the parameter MetricData.", MISSING_PARAMETER)
    await call.monitoring.metrics.put(call.caller, namespace, [_datum(each) for each in data])
    return {}


async def index(call: Call) -> dict[str, Any]:
    """Return the metrics that alarms watch, each with the alarm of its measurements."""
    members = call.input
    namespace, name = members.text("Namespace"), members.text("MetricName")
    filters = members.structures("Dimensions", 30)
    metrics = [
        {
            "Namespace": alarm.rule.namespace,
            "MetricName": alarm.rule.metric,
            "Dimensions": dimensions(known),
        }
        for alarm in await call.monitoring.alarms.shown(call.caller)
        if namespace in (None, alarm.rule.namespace)
        and name in (None, alarm.rule.metric)
        and _fits(known := dimensions_of(alarm), filters)
    ]
    part, rest = paged("ListMetrics", metrics, call, _MOST_LISTED)
    return {"Metrics": list(part), **rest}


async def statistics(call: Call) -> dict[str, Any]:
    """Return statistics of a metric for each period of a time with measurements."""
    members = call.input
    namespace, name = members.required("Namespace"), members.required("MetricName")
    begin, end = members.moment("StartTime"), members.moment("EndTime")
    period = members.whole("Period", 1, 86400)
    if begin is None or end is None or period is None:
        message = "The request needs the parameters StartTime, EndTime and Period."
        raise ValidationError(message, MISSING_PARAMETER)
    if not 0 < end - begin <= period * _MOST_POINTS:
        message = f"There are up to {_MOST_POINTS} periods from StartTime to EndTime, and one."
        raise ValidationError(message, INVALID_COMBINATION)
    names = members.texts("Statistics", len(STATISTICS))
    if not names or not set(names) <= STATISTICS.keys():
        message = f"Statistics are some of {', '.join(STATISTICS)}."
        raise ValidationError(message, VALUE_ERROR)
    measured = await call.monitoring.metrics.series(
        call.caller, (namespace, name), dimensions_in(members), begin
    )
    unit = members.text("Unit")
    counted = [each for each in measured if begin <= each.at < end and unit in (None, each.unit)]
    points = _points(counted, begin, period, names)
    return {"Label": name, "Datapoints": list(points)}


def _points(
    measured: Sequence[Measurement], begin: float, period: int, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the statistics of each period with measurements, by unit, oldest first."""
    groups: dict[tuple[float, str], list[Measurement]] = {}
    for each in measured:
        start = begin + math.floor((each.at - begin) / period) * period
        groups.setdefault((start, each.unit or "None"), []).append(each)
    for (start, unit), group in sorted(groups.items()):
        values = {name: float(STATISTICS[name](group)) for name in names}
        yield {"Timestamp": moment(start), **values, "Unit": unit}


def _fits(known: dict[str, str], filters: Sequence[Members]) -> bool:
    """Return whether a metric has the dimensions of a filter, which may leave their values open."""
    return all(
        each.required("Name") in known
        and each.text("Value") in (None, known[each.required("Name")])
        for each in filters
    )


def _data(members: Members) -> Iterator[Members]:
    """Yield all data of a request, its own and those grouped by entity."""
    yield from members.structures("MetricData", _MOST_DATA)
    for entity in members.structures("EntityMetricData", _MOST_DATA):
        yield from entity.structures("MetricData", _MOST_DATA)


def _datum(members: Members) -> Datum:
    """Return one datum: a value, a set of statistics, or values with their counts."""
    forms = [name for name in ("Value", "StatisticValues", "Values") if members.has(name)]
    if len(forms) != 1:
        message = f"{members.path}Value, StatisticValues and Values exclude each other; give one."
        raise ValidationError(message, INVALID_COMBINATION if forms else MISSING_PARAMETER)
    total, count, least, most = _numbers(members)
    return Datum(
        members.required("MetricName", 255),
        dimensions_in(members),
        total,
        count,
        least,
        most,
        members.text("Unit", 255),
        members.moment("Timestamp"),
    )


def _numbers(members: Members) -> tuple[float, float, float | None, float | None]:
    """Return sum, number, least and largest of the values of a datum."""
    value = members.number("Value")
    if value is not None:
        return value, 1.0, None, None
    known = members.structure("StatisticValues")
    if known is not None:
        names = ("Sum", "SampleCount", "Minimum", "Maximum")
        found = [known.number(name) for name in names]
        if None in found:
            message = f"The request needs {known.path}Sum, SampleCount, Minimum and Maximum."
            raise ValidationError(message, MISSING_PARAMETER)
        total, count, least, most = (each or 0.0 for each in found)
        return total, count, least, most
    values = members.numbers("Values", _MOST_VALUES)
    counts = members.numbers("Counts", _MOST_VALUES) or [1.0] * len(values)
    if not values or len(values) != len(counts) or min(counts) <= 0:
        message = f"{members.path}Values and Counts are as many, and each count is above nought."
        raise ValidationError(message, INVALID_COMBINATION)
    # Numbers that are too large become infinite or NaN, and are rejected later.
    total = sum(value * count for value, count in zip(values, counts, strict=True))
    return total, sum(counts), min(values), max(values)
