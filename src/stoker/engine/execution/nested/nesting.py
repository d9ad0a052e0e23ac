"""Nested stacks: stacks with operations of their own, which a resource of the parent waits for.

The nested stack is recorded in the transaction that records the parent's resource as in progress
with its id, so it can neither be created twice nor be lost. Its end wakes the parent; polls cover
engines in other processes.
"""

from __future__ import annotations

from stoker.engine.execution.calls.adopt import NOT_PROVIDED
from stoker.engine.execution.calls.build import address_of_nested
from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.resource_run import ResourceRun
from stoker.engine.execution.nested.attributes import nested_attributes, with_shown
from stoker.engine.execution.nested.desired import (
    child_of,
    desired_nested,
    input_from,
    nesting_call,
)
from stoker.engine.execution.nested.ends import NestedEnds, NestedFailedError
from stoker.engine.execution.nested.settled import is_settled
from stoker.engine.execution.reasons import reason_of_nested, reason_of_resource
from stoker.engine.execution.session import Session, StackRows
from stoker.engine.model.kinds import (
    Batches,
    ChangeRequest,
    WalkRequest,
    accepted_below,
    is_express,
)
from stoker.engine.model.plans import Releases
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
from stoker.schema.resource_type import Nested, ScalableType
from stoker.template.definition import Definition


class Nesting:
    """Creates, updates and deletes the nested stacks of one operation."""

    def __init__(self, context: OperationContext) -> None:
        self._session = context.session
        self._waiting = context.waiting
        self._parent = context.operation
        self._values = context.values
        self._ends = NestedEnds(context.session, context.waiting)

    async def is_settled(
        self, run: ResourceRun, definition: Definition, attributes: frozenset[str]
    ) -> bool:
        """Return True if nothing would change in the nested stack, nor in the row."""
        return await is_settled(self._session, self._parent, run.row, definition, attributes)

    async def apply(
        self, run: ResourceRun, definition: Definition, attributes: frozenset[str]
    ) -> None:
        """Bring the nested stack to the definition; the row is still in progress then.

        ``attributes`` are those that the parent's template refers to. Raises
        :class:`ActionFailedError` with the nested stack's reason.
        """
        try:
            await self.bring(run, definition, attributes)
        except NestedFailedError as failed:
            await run.fail(reason_of_nested(run.row.name, str(failed)))

    async def bring(
        self, run: ResourceRun, definition: Definition, attributes: frozenset[str]
    ) -> None:
        """Apply a nested stack without a change of the row's status. Raises NestedFailedError."""
        # A dead engine may have started the operation: it is recorded once, and stays the same.
        operation_id, seen = (
            await _started_part(self._session, run.row, self._parent, removing=False),
            None,
        )
        if operation_id is None:
            child = await child_of(self._session, run.row)
            child_id = self._session.ports.ids.uuid()
            reference = address_of_nested(self._session, run.row, child_id).arn
            if child is not None:
                reference = child.address.arn
            adopted = await self._adopted(run)
            nested = await desired_nested(
                self._session, run.row, definition, attributes, child, reference, adopted
            )
            seen = self._waiting.round_of(child_id if child is None else child.id)
            if child is None:
                operation_id = await self._create(run, definition, nested, child_id, adopted)
            else:
                operation_id = await self._update(run, child, definition, nested)
        assert run.row.nested_id is not None
        await self._ends.wait_for(run.row, self._parent, run.row.nested_id, operation_id, seen)
        run.row = await with_outputs(self._session, run.row)
        await self._values.require_room(run.row)

    async def remove(self, run: ResourceRun, *, abandons: bool = False) -> None:
        """Delete the nested stack; the row is still in progress then.

        With ``abandons``, all its objects stay in the cloud.
        """
        child = await child_of(self._session, run.row)
        if child is None or child.deleted_at is not None:
            return
        operation = self._operation(child.id, Action.DELETE, name=run.row.name, abandons=abandons)
        await self._part(run, operation)

    async def pass_on(self, run: ResourceRun) -> None:
        """Walk the nested stack as its parent is walked; the row is still in progress then."""
        row, parent = run.row, self._parent
        child = await child_of(self._session, row)
        if child is None or child.deleted_at is not None:
            await run.fail(f"the nested stack {row.nested_id} no longer exists")
        if not is_walked(child, parent.action):
            operation = self._operation(child.id, parent.action)
            await self._part(run, replace(operation, request=_walk_below(parent, row)))

    async def _part(self, run: ResourceRun, operation: Operation) -> None:
        """Run an operation on the nested stack as part of the parent's operation, once."""
        removing = operation.action is Action.DELETE
        seen = None
        operation_id = await _started_part(self._session, run.row, self._parent, removing=removing)
        if operation_id is None:
            seen = self._waiting.round_of(operation.stack_id)
            await self._session.commit(resources=[run.row], operations=[operation])
            operation_id = operation.id
        try:
            await self._ends.wait_for(run.row, self._parent, operation.stack_id, operation_id, seen)
        except NestedFailedError as failed:
            await run.fail(reason_of_nested(run.row.name, str(failed)))

    def _operation(
        self,
        child_id: str,
        action: Action,
        input_id: str | None = None,
        nested: Nested | None = None,
        name: str = "",
        *,
        abandons: bool = False,
    ) -> Operation:
        ports, parent = self._session.ports, self._parent
        batches = Batches() if nested is None else Batches(nested.batches, nested.pause)
        return Operation(
            id=ports.ids.uuid(),
            stack_id=child_id,
            action=action,
            created_at=ports.clock.now(),
            request=ChangeRequest(
                settings={"parent_resource": name},
                batches=batches,
                abandons=abandons or parent.abandons,
                keep_objects=Releases(parent.keep_objects).below(name).paths,
                change_imported=parent.changes_imported,
                releases_imports=parent.releases_imports,
                accepted=accepted_below(parent.request, name),
                converge=parent.converges,
                express=is_express(parent.request),
            ),
            input_id=input_id,
            deadline=_deadline(parent, nested, ports.clock.now()),
            parent_operation=parent.id,
            client_token=parent.client_token,
        )

    async def _adopted(self, run: ResourceRun) -> Adopted | None:
        """Return the facts for the adoption of a nested stack. Raises ActionFailedError."""
        if run.row.action is not Action.ADOPT:
            return None
        adopted = (await self._session.input()).adopted_resource(run.row.name)
        if adopted.resources is None:
            await run.fail(reason_of_resource(run.row.name, NOT_PROVIDED, "Exception"))
        return adopted

    async def _input(self, child_id: str, definition: Definition, nested: Nested) -> Input:
        own = await self._session.input()
        return await input_from(self._session, own, child_id, definition, nested)

    async def _create(
        self,
        run: ResourceRun,
        definition: Definition,
        nested: Nested,
        child_id: str,
        adopted: Adopted | None,
    ) -> str:
        """Record the nested stack with its operation, and return the id of the operation."""
        session, row = self._session, run.row
        action = Action.CREATE
        stack_input = await self._input(child_id, definition, nested)
        if adopted is not None:
            action, stack_input = (
                Action.ADOPT,
                replace(stack_input, adopted=adopted.resources or {}),
            )
        operation = self._operation(child_id, action, stack_input.id, nested)
        operation = _restoring(operation, self._parent, row)
        child, event = session.transitions.stack_to(
            nested_stack(session, row, child_id, stack_input.id),
            action,
            Status.IN_PROGRESS,
            f"Stack {action} started",
        )
        data = row.data if nested.data is None else nested.data
        run.row = replace(row, nested_id=child_id, physical_id=child_id, data=data)
        await session.commit(
            resources=[run.row],
            inputs=[stack_input],
            created=[child],
            operations=[operation],
            events=[event],
        )
        return operation.id

    async def _update(
        self, run: ResourceRun, child: Stack, definition: Definition, nested: Nested
    ) -> str:
        """Record the operation that updates the nested stack to its input, and return its id."""
        stack_input = await self._input(child.id, definition, nested)
        operation = self._operation(child.id, Action.UPDATE, stack_input.id, nested, run.row.name)
        operation = _restoring(operation, self._parent, run.row)
        if nested.data is not None:
            run.row = replace(run.row, data=nested.data)
        await self._session.commit(
            resources=[run.row], inputs=[stack_input], operations=[operation]
        )
        return operation.id


def nested_stack(stack_rows: StackRows, row: Resource, child_id: str, input_id: str) -> Stack:
    """Return the new nested stack of a row, without an action."""
    own = stack_rows.stack
    return Stack(
        id=child_id,
        project_id=own.project_id,
        name=address_of_nested(stack_rows, row, child_id).name,
        action=Action.INIT,
        status=Status.COMPLETE,
        reason="",
        created_at=stack_rows.ports.clock.now(),
        input_id=input_id,
        user_id=own.user_id,
        user_name=own.user_name,
        credentials=own.credentials,
        user_project_id=own.user_project_id,
        timeout_mins=own.timeout_mins,
        # The parent's rollback also rolls back its nested stacks.
        disable_rollback=True,
        tags=own.tags,
        parent_id=own.id,
        parent_resource=row.name,
        parent_resource_id=row.id,
        root_id=own.root_id or own.id,
        depth=own.depth + 1,
    )


async def resize(
    context: OperationContext, row: Resource, definition: Definition, attributes: frozenset[str]
) -> Resource:
    """Bring the nested stack of a group to the size in its row; return the row, to be committed.

    Raises NestedFailedError.
    """
    run = ResourceRun(context, row)
    await Nesting(context).bring(run, definition, attributes)
    return run.row


def note_size(run: ResourceRun, type_: ScalableType) -> None:
    """Record in the row of a group that it has reached the size of its definition."""
    run.row = replace(run.row, data=type_.settled(nesting_call(run.session, run.row), None))


async def with_outputs(session: Session, row: Resource) -> Resource:
    """Return the row with the outputs of the nested stack as attributes."""
    child = await child_of(session, row)
    assert child is not None
    shown = await nested_attributes(session, child, session.type_of(row))
    return replace(with_shown(row, shown, child.address.arn), reason="state changed")


async def _started_part(
    session: Session, row: Resource, parent: Operation, *, removing: bool
) -> str | None:
    """Return the id of the operation on the nested stack that is part of ``parent``, or None.

    Ended operations count as well, but superseded ones do not.
    """
    if row.nested_id is None or session.started_operation_id == parent.id:
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
    """Return the walk of a row's nested stack, as part of the parent's walk."""
    request = parent.request
    assert isinstance(request, WalkRequest)
    return WalkRequest((*request.snapshot, row.name)) if request.snapshot else request


def _restoring(operation: Operation, parent: Operation, row: Resource) -> Operation:
    """Return the operation on a nested stack; it restores if the parent's operation does."""
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
