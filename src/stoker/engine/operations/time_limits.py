"""Time limits of the operations that one driver runs.

Takes an operation with its deadline by the clock of the store. Produces the seconds left, by the
monotonic clock of the event loop, so that a clock that is set neither ends nor prolongs it.

Invariant: a delete or a rollback is never ended by an outage of all engines, because that would
leave objects behind. The driver is the only caller.
Tested by tests/engines/test_outages.py and tests/recovery/test_clock_set_back.py.
"""

from __future__ import annotations

import asyncio

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Action, Operation, OperationStatus, Stack
from stoker.kernel.values import replace


class TimeLimits:
    """Time limits of operations, independent of changes to the machine's clock."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._ends_at: dict[str, float] = {}  # by operation, on the loop's monotonic clock

    def seconds_left(self, operation: Operation) -> float | None:
        """Return the seconds until the operation's time is up; None without a limit."""
        if operation.deadline is None:
            return None
        now = asyncio.get_running_loop().time()
        if operation.id not in self._ends_at:
            # Never more than the whole limit: a clock that was set back since the request would
            # add the difference.
            whole = operation.deadline - operation.created_at
            seconds = min(operation.deadline - self._ports.clock.now(), whole)
            self._ends_at[operation.id] = now + seconds
        return max(self._ends_at[operation.id] - now, 0)

    def is_up(self, operation: Operation) -> bool:
        """Return whether the operation has used up its time."""
        return self.seconds_left(operation) == 0

    async def extended(self, stack: Stack, operation: Operation) -> Operation:
        """Return the operation with its whole time limit if an outage of the engines used it up.

        The time limit counts from the moment at which an operation starts, not from its acceptance:
        a request may wait for an engine, or for the operation before it. A delete or a rollback
        that no engine drove at its deadline starts its time again, because ending it would leave
        objects behind; any other running operation has timed out. A nested operation that has not
        started has the deadline of its parent.
        """
        now = self._ports.clock.now()
        if operation.deadline is None:
            return operation
        limit = self._ports.time_limit(stack)
        if operation.status is OperationStatus.WAITING and operation.parent_operation is None:
            limit = operation.deadline - operation.created_at
        elif operation.deadline > now or not await self._must_finish(operation):
            return operation
        return replace(operation, deadline=max(operation.deadline, now + limit))

    async def _must_finish(self, operation: Operation) -> bool:
        """Return whether this is a delete, a rollback, or a nested operation of a rollback."""
        ancestor: Operation | None = operation
        while ancestor is not None and ancestor.action not in (Action.DELETE, Action.ROLLBACK):
            parent_id = ancestor.parent_operation
            ancestor = await self._ports.store.operation(parent_id) if parent_id else None
        return ancestor is not None
