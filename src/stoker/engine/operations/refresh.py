"""What a stack shows of its nested stacks, brought up to date after one has changed by itself.

A signal may change a nested stack without an operation on the stack around it. The attributes that
the latter has recorded then follow by an operation of their own, up to the root of the tree.
"""

from __future__ import annotations

from stoker.engine.execution.actions import Actions
from stoker.engine.execution.nesting import Nesting, is_nested
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.kinds import RefreshRequest
from stoker.engine.model.records import Action, Operation, OperationStatus, Resource
from stoker.engine.operations.running import Running
from stoker.kernel.values import replace


def refresh_around(session: Session) -> list[Operation]:
    """The operation by which the stack around this one takes note; none around a root."""
    stack, ports = session.stack, session.ports
    if stack.parent_id is None or stack.parent_resource_id is None:
        return []
    return [
        Operation(
            id=ports.ids.uuid(),
            stack_id=stack.parent_id,
            action=Action.SIGNAL,
            created_at=ports.clock.now(),
            request=RefreshRequest(stack.parent_resource_id),
            deadline=ports.clock.now() + 60 * ports.limits.timeout_mins,
        )
    ]


class Refreshing(Running):
    """Takes over what one nested stack shows."""

    def __init__(self, session: Session, operation: Operation) -> None:
        assert isinstance(operation.request, RefreshRequest)
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._resource_id = operation.request.resource_id

    async def run(self) -> None:
        """Record the attributes, and let the stack around this one do the same."""
        session = self._session
        row = session.rows.get(self._resource_id)
        if row is None or not is_nested(row) or row.action is Action.DELETE:
            await self._end([], [])
            return
        nesting = Nesting(session, Actions(session, self.waiting), self.waiting)
        fresh = await nesting.with_outputs(row)
        await self._end([replace(fresh, reason=row.reason)], refresh_around(session))

    async def _end(self, rows: list[Resource], above: list[Operation]) -> None:
        ended = replace(self.operation, status=OperationStatus.COMPLETE)
        await self._session.commit(resources=rows, operations=[ended, *above])
