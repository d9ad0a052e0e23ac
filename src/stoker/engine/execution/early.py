"""Starts nodes of an express operation before their dependencies have ended.

In: reports of actions whose objects can be used, or are being deleted for certain (``Wait.early``),
in an express operation. Out: the walk starts the nodes that depend on them, and each of those waits
here for the ends that it cannot do without. The invariant: a node that needs more than early values
starts when it would start without express, that is after everything before it has ended.

Nothing is stored. The objects and early attributes of reported rows are, before the report; after a
crash the next poll reports them again. Created for each phase by
:class:`stoker.engine.execution.execute.Execution`. Tested by tests/express and the simulation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping

from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.plans import Direction, Node, Phase, Step
from stoker.engine.model.records import Resource

# Returns which of these early nodes must end before a node, with everything before them.
NeedsEnd = Callable[[Node, Collection[str]], Awaitable[Collection[str]]]


async def need_all(node: Node, early: Collection[str]) -> Collection[str]:
    """Return all of the early nodes: the node starts as it would without express."""
    return early


class NotStartedError(Exception):
    """A node did not start, because one that it needed has not succeeded."""


class EarlyStarts:
    """The early nodes of one phase. ``report`` is called for each one, once."""

    def __init__(self, phase: Phase, waiting: Waiting, report: Callable[[str], None]) -> None:
        self._phase = phase
        self._waiting = waiting
        self._report = report
        self._ends: dict[str, asyncio.Future[bool]] = {}  # of early nodes in progress
        self._lost: set[str] = set()  # early nodes that ended without success
        self._held: set[str] = set()
        self._before: Mapping[str, frozenset[str]] | None = None

    def key_of(self, row: Resource) -> str:
        """Return the key of the node of a row."""
        return row.name if self._phase.step is Step.APPLY else row.id

    def allow(self, row: Resource) -> None:
        """Let nodes start that come after the one of this row, which is in progress."""
        key = self.key_of(row)
        if key not in self._ends and key not in self._lost:
            self._ends[key] = asyncio.get_running_loop().create_future()
            self._report(key)

    def is_early(self, key: str) -> bool:
        """Return whether the node is in progress, and others may have started after it."""
        return key in self._ends

    def is_held(self, key: str) -> bool:
        """Return whether the node waits for others and has not started."""
        return key in self._held

    def end(self, key: str, *, succeeded: bool) -> bool:
        """Record the end of a node. Return whether it was early."""
        ended = self._ends.pop(key, None)
        if ended is None:
            return False
        if not succeeded:
            self._lost.add(key)
        ended.set_result(succeeded)
        return True

    async def admit(self, node: Node, needs_end: NeedsEnd) -> bool:
        """Return once the node may start, with whether there were early nodes.

        Raises :class:`NotStartedError` if one that it needs did not succeed.
        """
        if not self._ends and not self._lost:
            return False
        self._held.add(node.key)
        while self._ends or self._lost:
            first = self._direct(node.key)
            behind = {key: self._reach(key) for key in first}
            waited = [key for key, reach in behind.items() if not reach.isdisjoint(self._ends)]
            lost = [key for key, reach in behind.items() if not reach.isdisjoint(self._lost)]
            if lost:
                raise NotStartedError
            needed = await needs_end(node, waited) if waited else ()
            left = [key for needs in needed for key in behind[needs] if key in self._ends]
            if not left:
                break
            with self._waiting.resting:
                await asyncio.wait([self._ends[left[0]]])
        self._held.discard(node.key)
        return True

    def _direct(self, key: str) -> frozenset[str]:
        if self._before is None:
            self._before = _before(self._phase)
        return self._before[key]

    def _reach(self, key: str) -> set[str]:
        """Return the node with everything before it."""
        found, pending = {key}, [key]
        while pending:
            for need in self._direct(pending.pop()) - found:
                found.add(need)
                pending.append(need)
        return found


def _before(phase: Phase) -> Mapping[str, frozenset[str]]:
    """Return the keys of the nodes before each node."""
    if phase.direction is Direction.DEPENDENCIES_FIRST:
        return {node.key: node.dependencies for node in phase.nodes}
    users: dict[str, set[str]] = {node.key: set() for node in phase.nodes}
    for node in phase.nodes:
        for need in node.dependencies:
            users[need].add(node.key)
    return {key: frozenset(found) for key, found in users.items()}
