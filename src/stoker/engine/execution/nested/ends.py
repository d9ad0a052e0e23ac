"""Ends of operations on nested stacks, and their early cancels.

An operation on a nested stack is part of one on its parent, which waits for it. If the parent
starts no more actions, a nested stack that is being created or updated is cancelled.
"""

from __future__ import annotations

from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import End, StoppedError, Waiting
from stoker.engine.model.kinds import CancelRequest
from stoker.engine.model.records import (
    CANCELLABLE,
    Operation,
    OperationStatus,
    Resource,
    under_way,
)
from stoker.schema.resource_type import Wait


class NestedFailedError(Exception):
    """The operation on a nested stack has failed. The text is the reason."""


class NestedEnds:
    """Waits for the parts of one operation on nested stacks."""

    def __init__(self, session: Session, waiting: Waiting) -> None:
        self._session = session
        self._waiting = waiting

    async def wait_for(
        self, row: Resource, above: Operation, child_id: str, part_id: str, seen: int | None
    ) -> None:
        """Return when the part of the operation ``above`` is complete. Raises NestedFailedError.

        ``seen`` is the nested stack's round before the part was recorded; None if the part may have
        ended. If another resource has failed, a create or an update is cancelled; a delete or a
        walk continues, like that of any resource.
        """
        # The driver of the nested stack notifies its end, unless it is in another process.
        wait = Wait(after=self._session.ports.limits.second_look, on_signal=True)
        await self._session.tell_intent(row)
        while True:
            if seen is None:
                seen = self._waiting.round_of(child_id)
                status, reason = await self._status(part_id)
                if status is OperationStatus.COMPLETE:
                    return
                if status.final:
                    raise NestedFailedError(reason or "superseded")
            if self._may_cancel(row):
                cancel = await cancel_of(self._session, row, above)
                await self._session.commit(operations=[cancel] if cancel else [])
                raise NestedFailedError(self._aborted(row))
            try:
                await self._waiting.wait(wait, seen, child_id)
            except StoppedError:
                if self._waiting.stopped:
                    raise
                raise NestedFailedError(self._aborted(row)) from None
            seen = None

    def _may_cancel(self, row: Resource) -> bool:
        """Return whether a part may be cancelled: the operation failed, but not by a timeout."""
        failed = self._waiting.failed is not None and not self._waiting.expired
        return failed and row.action in CANCELLABLE

    def _aborted(self, row: Resource) -> str:
        return f"{row.action} aborted: {self._waiting.failed}"

    async def _status(self, operation_id: str) -> End:
        """Return the status of a nested operation, as notified at its end or as stored."""
        end = self._waiting.end_of(operation_id)
        if end is None:
            end = await self._session.ports.store.operation_status(operation_id)
        return end or (OperationStatus.SUPERSEDED, "")


async def cancel_of(session: Session, row: Resource, above: Operation) -> Operation | None:
    """Return the cancel of the change of a row's nested stack; None if it is at rest.

    It is no part of ``above``, the operation on the parent: an engine that resumes that operation
    does not wait for the cancel, but changes the nested stack again.
    """
    if row.nested_id is None:
        return None
    ports = session.ports
    change = under_way(await ports.store.queue(row.nested_id))
    if change is None or change.action not in CANCELLABLE:
        return None
    return Operation(
        id=ports.ids.uuid(),
        stack_id=row.nested_id,
        action=change.action,
        created_at=ports.clock.now(),
        request=CancelRequest(),
        deadline=above.deadline,
        cancels=change.id,
    )
