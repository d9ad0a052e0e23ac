"""Shares of the turns: who asks for many waits longer for each than who asks for few."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from stoker.store.tables import stacks

RATE = 50.0
"""Turns in a second that a project may ask for without falling behind."""
_LOWEST = 1_000_000
_PROJECTS = 10_000
"""Of so many it is remembered what they have asked for."""
_PROJECT_OF = sa.select(stacks.c.id, stacks.c.project_id)


class Shares:
    """What the projects have asked of one process lately. The store's writing thread uses it."""

    def __init__(self) -> None:
        self._behind: dict[str, tuple[float, float]] = {}
        """By project: turns that it is behind, and when that was so."""

    def priorities(
        self, connection: sa.Connection, stack_ids: Sequence[str], known: Mapping[str, str]
    ) -> list[int]:
        """The priority of a turn of each of the stacks: the higher, the earlier.

        ``known`` are projects of stacks, which need not be asked for.
        """
        project_of = dict(known)
        if others := [stack_id for stack_id in stack_ids if stack_id not in known]:
            select = _PROJECT_OF.where(stacks.c.id.in_(others))
            project_of.update({row.id: row.project_id for row in connection.execute(select)})
        return [self._next(project_of.get(stack_id, "")) for stack_id in stack_ids]

    def _next(self, project_id: str) -> int:
        now = time.monotonic()
        if len(self._behind) >= _PROJECTS:
            self._behind = {
                project: (behind, at)
                for project, (behind, at) in self._behind.items()
                if behind > (now - at) * RATE
            }
        behind, at = self._behind.get(project_id, (0.0, now))
        behind = max(behind - (now - at) * RATE, 0.0)
        self._behind[project_id] = behind + 1, now
        return -min(int(behind), _LOWEST)
