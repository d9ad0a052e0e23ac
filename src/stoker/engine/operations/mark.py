"""Marks a resource unhealthy. The owner of the stack does it, as it writes every row.

It changes neither the status of the stack nor any object. It runs before operations that were
accepted later, so that an update after the mark replaces the resource.
"""

from __future__ import annotations

from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.kinds import MarkRequest
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Resource, Status
from stoker.engine.operations.running import Running
from stoker.kernel.values import replace


class MarkOperation(Running):
    """The setting, or the taking back, of one mark."""

    def __init__(self, session: Session, operation: Operation) -> None:
        assert isinstance(operation.request, MarkRequest)
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._request = operation.request

    async def run(self) -> None:
        """Commit the mark, its event, and the end of the operation; nothing if it is there."""
        session, request = self._session, self._request
        row = session.rows.get(request.resource_id)
        rows, events = [], []
        if row is not None and row.unhealthy != request.unhealthy:
            row, event = marked(session, row, unhealthy=request.unhealthy, reason=request.reason)
            rows, events = [row], [event]
        ended = replace(self.operation, status=OperationStatus.COMPLETE)
        await session.commit(resources=rows, events=events, operations=[ended])


def marked(
    session: Session, row: Resource, *, unhealthy: bool, reason: str
) -> tuple[Resource, Event]:
    """Return the row with the mark, or without it, and its event."""
    status = Status.FAILED if unhealthy else Status.COMPLETE
    transitions = session.transitions
    row, _ = transitions.resource_to(row, Action.CHECK, Status.IN_PROGRESS, reason)
    row, event = transitions.resource_to(row, Action.CHECK, status, reason)
    return replace(row, unhealthy=unhealthy), event
