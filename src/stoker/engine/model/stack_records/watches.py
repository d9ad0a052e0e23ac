"""Watches: states of watch rules, and their measurements.

A watch belongs to the row of the resource with the rule. It is a timer: its record has the time of
the next evaluation, so that it survives the process.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from stoker.engine.model.records import PublicRecord
from stoker.schema.watching import Measurement, WatchState


class Watch(PublicRecord, frozen=True):
    """A watch rule with its state."""

    resource_id: str
    stack_id: str
    name: str  # physical id of the resource; measurements refer to it
    namespace: str
    metric: str
    created_at: float
    next_at: float  # time of the next evaluation
    state: WatchState = WatchState.NODATA
    reason: str = "nothing was measured yet"
    changed_at: float | None = None  # time of the last change of the state
    acts: bool = True  # changes of the state cause the actions of the rule


class Datum(Struct, frozen=True):
    """One measurement of a metric, or several with their sum."""

    metric: str
    dimensions: Mapping[str, str]
    total: float  # the value, or the sum of several
    count: float = 1.0
    least: float | None = None  # none if all values are the same
    most: float | None = None
    unit: str | None = None
    at: float | None = None  # time; None for now


class WatchDefinition(Watch, frozen=True):
    """A watch as its resource defines it. The state of an existing watch is kept."""


class WatchMeasurement(Measurement, PublicRecord, frozen=True, kw_only=True):
    """A measurement of a watch."""

    resource_id: str
