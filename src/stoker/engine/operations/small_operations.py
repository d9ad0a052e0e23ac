"""Small operations: they change neither the desired state of a stack nor its status.

A mark sets the health of one resource. A restart marks a resource and all that depend on it, and
requests the update that replaces them. A reaction applies a signal to an object in the cloud. A
removal of a snapshot deletes its parts.

Takes the operation's request and the recorded rows. Produces one commit with the end of the
operation, its events and the changed rows.

Invariant: each is applied once, also if the driver dies. They wait for the operations accepted
before them; only a mark runs first, so that a waiting update replaces the marked resource.

The driver runs them. Tested by tests/operations/test_marks.py, test_reactions.py and
test_snapshots.py, and by tests/scaling/test_restarts.py.
"""

from __future__ import annotations

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller
from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.snapshot_removal import drop_snapshots
from stoker.engine.execution.waiting import StoppedError
from stoker.engine.model.interfaces import PublicChange, TransactionReader
from stoker.engine.model.kinds import (
    ChangeRequest,
    DropSnapshotRequest,
    MarkRequest,
    OperationKind,
    ReactRequest,
    RestartRequest,
)
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Resource, Status
from stoker.engine.operations.running import RunningOperation
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import ManagedType, Reacts, RestartsResource, Signal, can


class DropSnapshotOperation(RunningOperation):
    """The removal of one snapshot that a user requested."""

    async def run(self) -> None:
        """Remove the snapshot, if it still exists. A stop leaves the operation open."""
        assert isinstance(self.operation.request, DropSnapshotRequest)
        snapshot = await self._session.ports.store.snapshot(self.operation.request.snapshot_id)
        reason = None
        if snapshot is not None:
            try:
                reason = await drop_snapshots(self._session, [snapshot], self.waiting)
            except StoppedError:
                if self.waiting.stopped:
                    return
                reason = self.waiting.failed
        status = OperationStatus.COMPLETE if reason is None else OperationStatus.FAILED
        ended = replace(self.operation, status=status, reason=reason or "")
        await self._session.commit(operations=[ended])


class MarkOperation(RunningOperation):
    """The change of one resource's health. The driver does it because only it writes rows."""

    async def run(self) -> None:
        """Commit the mark, its event, and the end of the operation."""
        session, request = self._session, self.operation.request
        assert isinstance(request, MarkRequest)
        row = session.rows.get(request.resource_id)
        rows, events = [], []
        if row is not None and row.unhealthy != request.unhealthy:
            row, event = _marked(session, row, unhealthy=request.unhealthy, reason=request.reason)
            rows, events = [row], [event]
        ended = replace(self.operation, status=OperationStatus.COMPLETE)
        await session.commit(resources=rows, events=events, operations=[ended])


def _marked(
    session: Session, row: Resource, *, unhealthy: bool, reason: str
) -> tuple[Resource, Event]:
    """Return the row with the mark set or removed, and its event."""
    status = Status.FAILED if unhealthy else Status.COMPLETE
    transitions = session.transitions
    # Heat shows a mark as a check of the resource, which the table of transitions allows only
    # through IN_PROGRESS.
    row, _ = transitions.resource_to(row, Action.CHECK, Status.IN_PROGRESS, reason)
    row, event = transitions.resource_to(row, Action.CHECK, status, reason)
    return replace(row, unhealthy=unhealthy), event


class ReactOperation(RunningOperation):
    """The application of one signal by the type of its resource.

    A signal is an operation so that it is stored before it is answered.
    """

    def __init__(self, session: Session, operation: Operation) -> None:
        super().__init__(session, operation)
        assert isinstance(operation.request, ReactRequest)
        self._resource_id = operation.request.resource_id

    async def run(self) -> None:
        """Call the type, and end the operation.

        If a later change of the stack stops it, the operation stays open and continues after that.
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
        """Call the type. Raises RequestError if the cloud or the type refuses the signal."""
        type_ = self._session.type_of(row)
        # The type may have changed: an update accepted before the signal runs first.
        if not isinstance(type_, ManagedType) or not can(type_, Reacts):
            raise RequestError(f"{row.name} is no longer of a type that reacts to signals")
        call = TypeCall(type_, type_.react, row.properties, signal=self._signal())
        await TypeCaller(self._session, self.waiting, row).settle(call)

    def _signal(self) -> Signal:
        """Return the signal stored with the operation; an alarm stores none."""
        stored = self._session.signals.get(self._resource_id, ())
        own = [signal for signal in stored if signal.id == self.operation.id]
        return own[0] if own else Signal(self.operation.id, self.operation.created_at, {})

    async def _end(self, status: OperationStatus, reason: str) -> None:
        session = self._session
        events = self._signal_events(session.rows.get(self._resource_id), status, reason)
        ended = replace(self.operation, status=status, reason=reason)
        signal_id = self.operation.id
        await session.commit(operations=[ended], events=events, dropped_signals=[signal_id])


class _RestartError(Exception):
    """The signal cannot be applied. The text is the reason."""


class _ChangeUnderWayError(Exception):
    """A change of the stack is in progress, or waits: it replaces the marked resources."""


class RestartOperation(RunningOperation):
    """The replacement of a resource, and of all that depend on it, requested by a signal."""

    def __init__(self, session: Session, operation: Operation) -> None:
        super().__init__(session, operation)
        assert isinstance(operation.request, RestartRequest)
        self._restarter_id = operation.request.restarter_id

    async def run(self) -> None:
        """Mark the resources to replace, request the update, and end the operation."""
        try:
            rows = self._to_replace()
        except _RestartError as failed:
            await self._end(OperationStatus.FAILED, str(failed))
            return
        if self.operation.status is OperationStatus.WAITING:
            await self._mark(rows)
        # An update that was accepted before this operation may have replaced all of them.
        if any(self._session.rows[row.id].unhealthy for row in rows):
            await self._request_update()
        await self._end(OperationStatus.COMPLETE, self.operation.reason)

    def _to_replace(self) -> list[Resource]:
        """Return the resource to restart and all that depend on it. Raises _RestartError."""
        session = self._session
        restarter = session.rows.get(self._restarter_id)
        type_ = session.type_of(restarter) if restarter is not None else None
        if restarter is None or not can(type_, RestartsResource):
            raise _RestartError("the restarter is gone")
        reference = type_.restarts(build_call(session, restarter, type_))
        live = [row for row in session.current.values() if row.action is not Action.DELETE]
        named = [row for row in live if session.reference_of(row) == reference]
        if not named:
            raise _RestartError(
                f'no resource of this stack has the reference "{reference}": give {{get_resource:'
                " INSTANCE} as the instance"
            )
        names = {named[0].name}
        # The restarter depends on the instance, too, but stays: its address for signals is in use.
        others = [row for row in live if row.id != restarter.id]
        while more := {row.name for row in others if names & set(row.dependencies)} - names:
            names |= more
        return [row for row in live if row.name in names and not row.external]

    async def _mark(self, rows: list[Resource]) -> None:
        """Commit the marks with the operation, so that the signal counts once."""
        session = self._session
        names = ", ".join(sorted(row.name for row in rows))
        reason, marked, events = f"restart of {names}", [], []
        # The signal reports a broken object. A newer one has not caused it.
        if any(row.created_at > self.operation.created_at for row in rows):
            reason = f"no change: {names} was replaced after the signal had come"
        else:
            for row in rows:
                if not row.unhealthy:
                    row, event = _marked(session, row, unhealthy=True, reason=reason)
                    marked.append(row)
                    events.append(event)
        self.operation = replace(self.operation, status=OperationStatus.RUNNING, reason=reason)
        await session.commit(resources=marked, events=events, operations=[self.operation])

    async def _request_update(self) -> None:
        """Record the update that replaces the marked resources, unless a change is open."""
        stack, ports = self._session.stack, self._session.ports
        update = ports.operation_on(stack, Action.UPDATE, ChangeRequest(), stack.input_id)

        def guard(inside: TransactionReader) -> None:
            # Read the stack first. This locks its row, so that no request is recorded in between.
            inside.stack(stack.id)
            if any(op.kind is OperationKind.CHANGE for op in inside.queue(stack.id)):
                raise _ChangeUnderWayError

        try:
            await ports.store.commit(PublicChange(stack.id, puts=(update,), guards=(guard,)))
        except _ChangeUnderWayError:
            return

    async def _end(self, status: OperationStatus, reason: str) -> None:
        restarter = self._session.rows.get(self._restarter_id)
        events = self._signal_events(restarter, status, reason)
        ended = replace(self.operation, status=status, reason=reason)
        await self._session.commit(operations=[ended], events=events)
