"""Watches: what is kept of watch rules, and what the engine needs of the store for it.

A watch belongs to the row of the resource that says the rule. It is a timer: a row with the time
at which somebody has to look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from stoker.engine.model.records import PublicRecord, Resource
from stoker.schema.watching import Measurement, WatchState


class Watch(PublicRecord, frozen=True):
    """One watch rule, as it stands."""

    resource_id: str
    stack_id: str
    name: str
    """The physical id of the resource, by which measurements and users name it."""
    namespace: str
    metric: str
    created_at: float
    next_at: float
    """When it is to be looked at."""
    state: WatchState = WatchState.NODATA
    reason: str = "nothing was measured yet"
    changed_at: float | None = None
    """When the state has changed last."""
    acts: bool = True
    """Whether the actions of its rule follow a change of the state."""


class Datum(Struct, frozen=True):
    """What somebody has measured of one metric."""

    metric: str
    dimensions: Mapping[str, str]
    total: float
    """The value; of several, their sum."""
    count: float = 1.0
    least: float | None = None
    """None where all values are the same."""
    most: float | None = None
    unit: str | None = None
    at: float | None = None
    """When; None: now."""


class WatchDefinition(Watch, frozen=True):
    """A watch as its resource defines it. The state of an existing watch is kept."""


class WatchMeasurement(Measurement, PublicRecord, frozen=True, kw_only=True):
    """A measurement of a watch."""

    resource_id: str


class WatchReads(Protocol):
    """Reads of watches."""

    async def next_at(self) -> float | None:
        """When the next watch is to be looked at; None where there is none."""

    async def due(self, now: float, most: int) -> Sequence[Watch]:
        """Watches that are to be looked at by now, those that wait longest first."""

    async def resource(self, resource_id: str) -> Resource | None:
        """The row that a watch belongs to."""

    async def measurements(self, resource_id: str, since: float) -> Sequence[Measurement]:
        """The measurements of a watch from then on, oldest first."""

    async def watches(
        self,
        project_id: str,
        name: str | None = None,
        metric: tuple[str, str] | None = None,
        most: int = 1000,
    ) -> Sequence[Watch]:
        """Watches of the live stacks that are a project's, or whose users are in it.

        ``metric`` is a namespace and the name of a metric in it.
        """
