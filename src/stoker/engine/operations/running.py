"""The base of all kinds of operations: the interface that the driver uses.

A driver creates one object for an operation, awaits ``prepare`` and then ``run``. ``run`` commits
the end of the operation, unless ``waiting`` is stopped: then the operation stays open, and this or
another engine continues it from the recorded rows. Whether a kind executes a plan decides between
the two base classes. :mod:`stoker.engine.operations.kinds` lists the classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from stoker.engine.execution.execute import Execution
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.plans import UNOBSERVED, Definitions, Observed
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Resource, Status
from stoker.engine.planning.stack_secrets import masking_at
from stoker.kernel.values import replace


class RunningOperation(ABC):
    """One operation in progress. ``operation`` is the record as last committed."""

    def __init__(self, session: Session, operation: Operation) -> None:
        self.operation = operation
        self.waiting = Waiting()
        self._session = session

    async def prepare(self) -> None:
        """Collect the facts for ``run``; aborted when the operation's time is up.

        Raises DiagnosticError and RequestError, which end the operation as failed.
        """
        session = self._session
        session.mask(await masking_at(session.ports, session.stack, session.rows.values()))

    @abstractmethod
    async def run(self) -> None:
        """Carry out the operation and commit its end."""

    async def expire(self, reason: str) -> None:
        """End the operation because its time is up."""
        self.waiting.expire(reason)

    def _signal_events(
        self, row: Resource | None, status: OperationStatus, reason: str
    ) -> list[Event]:
        """Return the event that a signal to a resource ended so; none for a deleted row.

        Only the event has this status: a signal does not change the status of its resource.
        """
        if row is None:
            return []
        shown = Status.COMPLETE if status is OperationStatus.COMPLETE else Status.FAILED
        signalled = replace(row, action=Action.SIGNAL, status=shown, reason=reason)
        return [self._session.transitions.event_of(signalled)]


class PlannedOperation(RunningOperation):
    """An operation that executes a plan. The plan is stored before its first action."""

    _execution: Execution | None = None

    async def _execute(self, desired: Definitions, observed: Observed = UNOBSERVED) -> Execution:
        """Execute the stored plan, without the nodes that are finished already."""
        self._execution = Execution(self._session, self.operation, desired, observed, self.waiting)
        await self._execution.run()
        return self._execution

    async def expire(self, reason: str) -> None:
        """End the operation because its time is up, with the calls in flight."""
        await super().expire(reason)
        if self._execution is not None:
            await self._execution.abandon()
