"""Fair shares: a project with many requests waits longer for each than one with few."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from stoker.store.schema.tables import stacks

TURNS = 50.0  # turns per second that a project may request without a backlog
_LOWEST = 1_000_000
_PROJECTS = 10_000  # projects whose requests are remembered
_PROJECT_OF = sa.select(stacks.c.id, stacks.c.project_id)


class RateTracker:
    """Backlog of projects that request more than ``rate`` items per second."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        # By project: its backlog, and the time at which that was computed.
        self._backlogs: dict[str, tuple[float, float]] = {}

    def of(self, project_id: str) -> float:
        """Return the present backlog of a project."""
        return self._now(project_id, time.monotonic())

    def add(self, project_id: str, number: int = 1) -> None:
        """Count requests of a project."""
        now = time.monotonic()
        if len(self._backlogs) >= _PROJECTS:
            self._backlogs = {
                project: entry
                for project, entry in self._backlogs.items()
                if self._now(project, now) > 0
            }
        self._backlogs[project_id] = self._now(project_id, now) + number, now

    def _now(self, project_id: str, now: float) -> float:
        backlog, at = self._backlogs.get(project_id, (0.0, now))
        return max(backlog - (now - at) * self._rate, 0.0)


class FairShares:
    """Recent requests of projects in one process. The store's writing thread uses it."""

    def __init__(self) -> None:
        self._rates = RateTracker(TURNS)

    def priorities(
        self, connection: sa.Connection, stack_ids: Sequence[str], known: Mapping[str, str]
    ) -> list[int]:
        """Return the priority of a turn of each stack; higher ones come earlier.

        ``known`` are projects of stacks, which need no query.
        """
        project_of = dict(known)
        if others := [stack_id for stack_id in stack_ids if stack_id not in known]:
            select = _PROJECT_OF.where(stacks.c.id.in_(others))
            project_of.update({row.id: row.project_id for row in connection.execute(select)})
        return [self._next(project_of.get(stack_id, "")) for stack_id in stack_ids]

    def _next(self, project_id: str) -> int:
        backlog = self._rates.of(project_id)
        self._rates.add(project_id)
        return -min(int(backlog), _LOWEST)
