"""Nested stacks: stacks with operations of their own, which a resource of the parent waits for.

The nested stack is recorded in the transaction that records the parent's resource as in progress
with its id, so it can neither be made twice nor be lost. Its end wakes the parent; polls cover
engines in other processes.
"""

from __future__ import annotations

from stoker.engine.execution.calls.actions import (
    ActionFailedError,
    ResourceActions,
    reason_of_nested,
)
from stoker.engine.execution.calls.build import address_of_nested
from stoker.engine.execution.nested.attributes import nested_attributes, with_shown
from stoker.engine.execution.nested.desired import child_of, input_from, nesting_call, wanted_nested
from stoker.engine.execution.nested.ends import NestedEnds, NestedFailedError
from stoker.engine.execution.nested.settled import is_settled
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.kinds import Batches, ChangeRequest, WalkRequest, accepted_below
from stoker.engine.model.records import (
    Action,
    Adopted,
    Input,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
    is_walked,
)
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Nested,
    ScalableType,
)
from stoker.template.definition import Definition


class Nesting:
    """Creates, updates and deletes the nested stacks of one operation."""

    def __init__(self, session: Session, actions: ResourceActions, waiting: Waiting) -> None:
        self._session = session
        self._actions = actions
        self._waiting = waiting
        self._ends = NestedEnds(session, waiting)

    async def is_settled(
        self, row: Resource, definition: Definition, parent: Operation, attributes: frozenset[str]
    ) -> bool:
        """Return True if nothing would change in the nested stack, nor in the row."""
        return await is_settled(self._session, parent, row, definition, attributes)

    def resized(self, row: Resource, type_: ScalableType) -> Resource:
        """Return the row of a group that has reached the size of its definition."""
        return replace(row, data=type_.settled(nesting_call(self._session, row), None))

    async def apply(
        self,
        row: Resource,
        definition: Definition,
        parent: Operation,
        attributes: frozenset[str] = frozenset(),
    ) -> Resource:
        """Bring the nested stack to the definition; the row comes back still in progress.

        ``attributes`` are those that the parent's template refers to. Raises
        :class:`ActionFailedError` with the nested stack's reason.
        """
        try:
            return await self.bring(row, definition, parent, attributes)
        except NestedFailedError as failed:
            raise await self._action_failed(row, failed) from failed

    async def _action_failed(self, row: Resource, failed: NestedFailedError) -> ActionFailedError:
        """The failure of the resource's own action, committed on the row as it is by now."""
        reason = reason_of_nested(row.name, str(failed))
        known = self._session.rows.get(row.id)
        if known is None or known.status is not Status.IN_PROGRESS:
            known = row  # it has failed before its beginning was committed
        return ActionFailedError(await self._actions.fail(known, reason), reason)

    async def bring(
        self,
        row: Resource,
        definition: Definition,
        parent: Operation,
        attributes: frozenset[str],
    ) -> Resource:
        """Apply a nested stack without a change of the row's status. Raises NestedFailedError."""
        # A dead engine may have started the operation: it is recorded once, and stays the same.
        operation_id, seen = await _begun(self._session, row, parent, removing=False), None
        if operation_id is None:
            child = await child_of(self._session, row)
            child_id = self._session.ports.ids.uuid()
            reference = address_of_nested(self._session, row, child_id).arn
            if child is not None:
                reference = child.address.arn
            adopted = await self._adopted(row)
            nested = await wanted_nested(
                self._session, row, definition, attributes, child, reference, adopted
            )
            if nested.data is not None:
                row = replace(row, data=nested.data)
            seen = self._waiting.round_of(child_id if child is None else child.id)
            if child is None:
                row, operation_id = await self._create(
                    row, definition, nested, parent, child_id, adopted
                )
            else:
                operation_id = await self._update(row, child, definition, nested, parent)
        assert row.nested_id is not None
        await self._ends.wait_for(row, parent, row.nested_id, operation_id, seen)
        row = await self.with_outputs(row)
        await self._actions.values.require_room(row)
        return row

    async def remove(self, row: Resource, parent: Operation) -> Resource:
        """Delete the nested stack; the row comes back still in progress."""
        child = await child_of(self._session, row)
        if child is None or child.deleted_at is not None:
            return row
        operation = self._operation(child.id, Action.DELETE, parent)
        await self._part(row, operation, parent)
        return row

    async def pass_on(self, row: Resource, parent: Operation) -> Resource:
        """Walk the nested stack as its parent is walked; the row comes back still in progress."""
        child = await child_of(self._session, row)
        if child is None or child.deleted_at is not None:
            reason = f"the nested stack {row.nested_id} no longer exists"
            raise ActionFailedError(await self._actions.fail(row, reason), reason)
        if not is_walked(child, parent.action):
            operation = self._operation(child.id, parent.action, parent)
            await self._part(row, replace(operation, request=_walk_below(parent, row)), parent)
        return row

    async def _part(self, row: Resource, operation: Operation, parent: Operation) -> None:
        """Have an operation on the nested stack done as part of the parent's, once."""
        removing = operation.action is Action.DELETE
        operation_id, seen = await _begun(self._session, row, parent, removing=removing), None
        if operation_id is None:
            seen = self._waiting.round_of(operation.stack_id)
            await self._session.commit(resources=[row], operations=[operation])
            operation_id = operation.id
        try:
            await self._ends.wait_for(row, parent, operation.stack_id, operation_id, seen)
        except NestedFailedError as failed:
            raise await self._action_failed(row, failed) from failed

    def _operation(
        self,
        child_id: str,
        action: Action,
        parent: Operation,
        input_id: str | None = None,
        nested: Nested | None = None,
        name: str = "",
    ) -> Operation:
        ports = self._session.ports
        batches = Batches() if nested is None else Batches(nested.batches, nested.pause)
        return Operation(
            id=ports.ids.uuid(),
            stack_id=child_id,
            action=action,
            created_at=ports.clock.now(),
            request=ChangeRequest(
                batches=batches,
                abandons=parent.abandons,
                accepted=accepted_below(parent.request, name),
                converge=parent.converges,
            ),
            input_id=input_id,
            deadline=_deadline(parent, nested, ports.clock.now()),
            parent_operation=parent.id,
            client_token=parent.client_token,
        )

    async def _adopted(self, row: Resource) -> Adopted | None:
        """Return the facts for the adoption of a nested stack. Raises ActionFailedError."""
        if row.action is not Action.ADOPT:
            return None
        adopted = (await self._session.input()).adopted_resource(row.name)
        if adopted.resources is None:
            raise await self._actions.fail_unnamed(row)
        return adopted

    async def _input(self, child_id: str, definition: Definition, nested: Nested) -> Input:
        own = await self._session.input()
        return await input_from(self._session, own, child_id, definition, nested)

    async def _create(
        self,
        row: Resource,
        definition: Definition,
        nested: Nested,
        parent: Operation,
        child_id: str,
        adopted: Adopted | None,
    ) -> tuple[Resource, str]:
        session, own = self._session, self._session.stack
        now, action = session.ports.clock.now(), Action.CREATE
        given = await self._input(child_id, definition, nested)
        if adopted is not None:
            action, given = Action.ADOPT, replace(given, adopted=adopted.resources or {})
        operation = self._operation(child_id, action, parent, given.id, nested)
        operation = _restoring(operation, parent, row)
        child = Stack(
            id=child_id,
            project_id=own.project_id,
            name=address_of_nested(session, row, child_id).name,
            action=Action.INIT,
            status=Status.COMPLETE,
            reason="",
            created_at=now,
            input_id=given.id,
            user_id=own.user_id,
            user_name=own.user_name,
            credentials=own.credentials,
            user_project_id=own.user_project_id,
            timeout_mins=own.timeout_mins,
            disable_rollback=True,
            tags=own.tags,
            parent_id=own.id,
            parent_resource=row.name,
            parent_resource_id=row.id,
            root_id=own.root_id or own.id,
            depth=own.depth + 1,
        )
        child, event = session.transitions.stack_to(
            child, action, Status.IN_PROGRESS, f"Stack {action} started"
        )
        row = replace(row, nested_id=child_id, physical_id=child_id)
        await session.commit(
            resources=[row],
            inputs=[given],
            created=[child],
            operations=[operation],
            events=[event],
        )
        return row, operation.id

    async def _update(
        self,
        row: Resource,
        child: Stack,
        definition: Definition,
        nested: Nested,
        parent: Operation,
    ) -> str:
        """The operation that brings the nested stack to its input."""
        given = await self._input(child.id, definition, nested)
        operation = self._operation(child.id, Action.UPDATE, parent, given.id, nested, row.name)
        operation = _restoring(operation, parent, row)
        await self._session.commit(resources=[row], inputs=[given], operations=[operation])
        return operation.id

    async def with_outputs(self, row: Resource) -> Resource:
        """The row with the outputs of the nested stack as attributes."""
        child = await child_of(self._session, row)
        assert child is not None
        type_ = self._session.type_of(row)
        shown = await nested_attributes(self._session, child, type_)
        return replace(with_shown(row, shown, child.address.arn), reason="state changed")


async def _begun(
    session: Session, row: Resource, parent: Operation, *, removing: bool
) -> str | None:
    """The operation on the nested stack that is part of this one, also when it has ended."""
    if row.nested_id is None or session.begun == parent.id:
        return None
    parts = await session.ports.store.parts(row.nested_id, parent.id)
    known = [
        op.id
        for op in parts
        if (op.action is Action.DELETE) is removing and op.status is not OperationStatus.SUPERSEDED
    ]
    if not known:
        return None
    session.wake(row.nested_id)
    return known[-1]


def _walk_below(parent: Operation, row: Resource) -> WalkRequest:
    """Return the walk of a row's nested stack as a part of the walk around it."""
    request = parent.request
    assert isinstance(request, WalkRequest)
    return WalkRequest((*request.snapshot, row.name)) if request.snapshot else request


def _restoring(operation: Operation, parent: Operation, row: Resource) -> Operation:
    """The operation on the nested stack of a row, which restores if the one around it does."""
    request, above = operation.request, parent.request
    if not isinstance(request, ChangeRequest) or not isinstance(above, ChangeRequest):
        return operation
    if not above.restores:
        return operation
    return replace(operation, request=replace(request, restores=(*above.restores, row.name)))


def _deadline(parent: Operation, nested: Nested | None, now: float) -> float | None:
    limits = [] if parent.deadline is None else [parent.deadline]
    if nested is not None and nested.timeout_mins is not None:
        limits.append(now + 60 * nested.timeout_mins)
    return min(limits, default=None)
