"""A reaction: a type carries out a signal to its resource in the cloud.

The signal is an operation, so that it is stored before it is answered and runs after all operations
that were accepted before it. It changes neither the status of the stack nor that of the resource.
"""

from __future__ import annotations

from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.engine.model.kinds import ReactRequest
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Resource, Status
from stoker.engine.operations.running import Running
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import ManagedType, Reacts, Signal, can


class ReactOperation(Running):
    """The application of one signal."""

    def __init__(self, session: Session, operation: Operation) -> None:
        assert isinstance(operation.request, ReactRequest)
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._resource_id = operation.request.resource_id

    async def run(self) -> None:
        """Have the type react, and end the operation.

        A stop leaves the operation open: it goes on after the one that has come between.
        """
        row = self._session.rows.get(self._resource_id)
        try:
            if row is not None:
                await self._react(row)
        except StoppedError:
            return
        except RequestError as refused:
            await self._end(OperationStatus.FAILED, refused.message)
        else:
            await self._end(OperationStatus.COMPLETE, "the signal was applied")

    async def _react(self, row: Resource) -> None:
        """Raises RequestError where the cloud or the type refuses."""
        type_ = self._session.type_of(row)
        if not isinstance(type_, ManagedType) or not can(type_, Reacts):
            raise RequestError(f"{row.name} is no longer of a type that reacts to signals")
        work = TypeCall(type_, type_.react, row.properties, signal=self._signal())
        await TypeCaller(self._session, self.waiting, row).settle(work)

    def _signal(self) -> Signal:
        """The signal that was stored with the operation; an alarm says nothing besides."""
        stored = self._session.signals.get(self._resource_id, ())
        own = [signal for signal in stored if signal.id == self.operation.id]
        return own[0] if own else Signal(self.operation.id, self.operation.created_at, {})

    async def _end(self, status: OperationStatus, reason: str) -> None:
        session, events = self._session, list[Event]()
        row = session.rows.get(self._resource_id)
        if row is not None:
            good = status is OperationStatus.COMPLETE
            told = replace(
                row,
                action=Action.SIGNAL,
                status=Status.COMPLETE if good else Status.FAILED,
                reason=reason,
            )
            events.append(session.transitions.event_of(told))
        ended = replace(self.operation, status=status, reason=reason)
        signal_id = self.operation.id
        await session.commit(operations=[ended], events=events, dropped_signals=[signal_id])
