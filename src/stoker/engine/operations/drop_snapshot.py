"""The removal of a snapshot that a user asks for.

It waits for changes of the stack, and does not change the status of the stack.
"""

from __future__ import annotations

from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.snapshot_removal import drop_snapshots
from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.engine.model.kinds import DropSnapshotRequest
from stoker.engine.model.records import Operation, OperationStatus
from stoker.engine.operations.running import Running
from stoker.kernel.values import replace


class DropSnapshotOperation(Running):
    """The removal of one snapshot, whatever becomes of the stack meanwhile."""

    def __init__(self, session: Session, operation: Operation) -> None:
        assert isinstance(operation.request, DropSnapshotRequest)
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._snapshot_id = operation.request.snapshot_id

    async def run(self) -> None:
        """Remove it; nothing if it is gone. A stop leaves the operation open."""
        snapshot = await self._session.ports.store.snapshot(self._snapshot_id)
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
