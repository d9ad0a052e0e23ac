"""A restart: a resource and all that needs it are replaced because a signal asks for it.

They are marked unhealthy, and an update to the present input replaces them, unless a user's update
is open and does so.
"""

from __future__ import annotations

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.interfaces import PublicChange, TransactionReader
from stoker.engine.model.kinds import ChangeRequest, OperationKind, RestartRequest
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Resource, Status
from stoker.engine.operations.mark import marked
from stoker.engine.operations.running import Running
from stoker.kernel.values import replace
from stoker.schema.resource_type import RestartsResource, can


class RestartError(Exception):
    """The signal cannot be applied. The text is the reason."""


class _ChangeUnderWayError(Exception):
    """A change of the stack is in progress, or waits: it replaces the marked resources."""


class RestartOperation(Running):
    """The application of one signal."""

    def __init__(self, session: Session, operation: Operation) -> None:
        assert isinstance(operation.request, RestartRequest)
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._restarter_id = operation.request.restarter_id

    async def run(self) -> None:
        """Mark the resources to replace, request the update, and end the operation."""
        try:
            broken = self._broken()
        except RestartError as failed:
            await self._end(OperationStatus.FAILED, str(failed))
            return
        if self.operation.status is OperationStatus.WAITING:
            await self._mark(broken)
        if any(self._session.rows[row.id].unhealthy for row in broken):
            await self._ask_for_update()
        await self._end(OperationStatus.COMPLETE, self.operation.reason)

    def _broken(self) -> list[Resource]:
        """The resource that the signal is about, and all that needs it. Raises RestartError."""
        session = self._session
        restarter = session.rows.get(self._restarter_id)
        type_ = session.type_of(restarter) if restarter is not None else None
        if restarter is None or not can(type_, RestartsResource):
            raise RestartError("the restarter is gone")
        wanted = type_.restarts(build_call(session, restarter, type_))
        standing = [row for row in session.current.values() if row.action is not Action.DELETE]
        found = [row for row in standing if session.reference_of(row) == wanted]
        if not found:
            raise RestartError(
                f'no resource of this stack has the reference "{wanted}": give {{get_resource:'
                " INSTANCE} as the instance"
            )
        names = {found[0].name}
        others = [row for row in standing if row.id != restarter.id]
        while more := {row.name for row in others if names & set(row.dependencies)} - names:
            names |= more
        return [row for row in standing if row.name in names and not row.external]

    async def _mark(self, broken: list[Resource]) -> None:
        """Commit the marks, so that the signal counts once."""
        session = self._session
        named = ", ".join(sorted(row.name for row in broken))
        reason, rows, events = f"restart of {named}", [], []
        if any(row.created_at > self.operation.created_at for row in broken):
            reason = f"no change: {named} was replaced after the signal had come"
        else:
            for row in broken:
                if not row.unhealthy:
                    row, event = marked(session, row, unhealthy=True, reason=reason)
                    rows.append(row)
                    events.append(event)
        self.operation = replace(self.operation, status=OperationStatus.RUNNING, reason=reason)
        await session.commit(resources=rows, events=events, operations=[self.operation])

    async def _ask_for_update(self) -> None:
        """Record the update that replaces the marked resources."""
        stack, ports = self._session.stack, self._session.ports
        update = ports.operation_on(stack, Action.UPDATE, ChangeRequest(), stack.input_id)

        def guard(inside: TransactionReader) -> None:
            inside.stack(stack.id)  # which locks it
            if any(op.kind is OperationKind.CHANGE for op in inside.queue(stack.id)):
                raise _ChangeUnderWayError

        try:
            await ports.store.commit(PublicChange(stack.id, operations=(update,), guards=(guard,)))
        except _ChangeUnderWayError:
            return

    async def _end(self, status: OperationStatus, reason: str) -> None:
        session = self._session
        restarter = session.rows.get(self._restarter_id)
        events: list[Event] = []
        if restarter is not None:
            good = status is OperationStatus.COMPLETE
            told = replace(
                restarter,
                action=Action.SIGNAL,
                status=Status.COMPLETE if good else Status.FAILED,
                reason=reason,
            )
            events = [session.transitions.event_of(told)]
        ended = replace(self.operation, status=status, reason=reason)
        await session.commit(operations=[ended], events=events)
