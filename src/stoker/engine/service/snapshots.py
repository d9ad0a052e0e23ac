"""Snapshots of stacks: accepts requests for them, and shows their contents.

A snapshot is recorded with the operation that takes it, and becomes complete at the end of that
operation. If the operation ends in any other way, the snapshot has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports, PublicChange, TransactionReader
from stoker.engine.model.kinds import ChangeRequest, DropSnapshotRequest, WalkRequest
from stoker.engine.model.records import Action, OperationStatus, Stack, Status
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.engine.model.views import SnapshotView
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.permissions import require_types
from stoker.engine.service.requests.evaluate import description_of
from stoker.engine.service.stack_access.guards import (
    is_suspended,
    live,
    require_own_objects,
    require_rest,
    require_updatable,
)
from stoker.engine.service.stack_access.lookup import Finder, await_end
from stoker.engine.service.stack_access.presenters import environment_view
from stoker.engine.service.views.documents import resource_document, stack_document
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import (
    NOT_FOUND,
    ActionInProgressError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
)

_TAKEN = "Stack SNAPSHOT completed successfully"


class SnapshotService:
    """Snapshots, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._store = ports.store
        self._finder = finder

    async def create(self, caller: Caller, address: StackAddress, name: str | None) -> SnapshotView:
        """Record a snapshot and the operation that takes it, and return.

        Raises ActionInProgressError while an operation is open, NotSupportedError while the stack
        is suspended.
        """
        stack = await self._finder.at(caller, address)
        snapshot_id = self._ports.ids.uuid()
        operation = self._ports.operation_on(stack, Action.SNAPSHOT, WalkRequest((snapshot_id,)))
        state = {"action": stack.action, "status": stack.status, "tags": stack.tags}
        snapshot = Snapshot(
            snapshot_id,
            stack.id,
            self._ports.clock.now(),
            stack.input_id,
            operation.id,
            name,
            stack_state=state,
        )
        most = -1 if caller.is_admin else self._ports.limits.snapshots_per_stack

        def guard(inside: TransactionReader) -> None:
            now = live(inside, stack)
            require_rest(now, inside.queue(stack.id))
            if is_suspended(now):
                raise NotSupportedError(
                    f"{stack.name} is suspended: a snapshot would be all that it says of itself,"
                    " and nothing could resume it. Resume it first"
                )
            if now.input_id != stack.input_id:
                raise ActionInProgressError(
                    f"{stack.name} has been updated in the meantime; send the request again"
                )
            if 0 <= most <= inside.count_snapshots(stack.id):
                raise LimitExceededError(
                    f"You have reached the maximum snapshots per stack, {most}. Delete snapshots"
                    f" of {stack.name}"
                )

        change = PublicChange(stack.id, puts=(operation, snapshot), guards=(guard,))
        await self._store.commit(change)
        return await self._view(stack, snapshot)

    async def list(self, caller: Caller, address: StackAddress) -> Sequence[SnapshotView]:
        """Return the snapshots of a stack, oldest first."""
        stack = await self._finder.at(caller, address)
        return [await self._view(stack, each) for each in await self._store.snapshots(stack.id)]

    async def show(self, caller: Caller, address: StackAddress, snapshot_id: str) -> SnapshotView:
        """Return a snapshot. Raises NotFoundError."""
        stack = await self._finder.at(caller, address)
        return await self._view(stack, await self._snapshot(stack, snapshot_id))

    async def delete(self, caller: Caller, address: StackAddress, snapshot_id: str) -> None:
        """Record the removal of a snapshot and its contents, which waits for other operations.

        Returns when the snapshot is removed, or after a few seconds. Raises NotSupportedError while
        it is being taken.
        """
        stack = await self._finder.at(caller, address)
        snapshot = await self._snapshot(stack, snapshot_id)
        if (await self._state(snapshot))[0] is Status.IN_PROGRESS:
            raise NotSupportedError(
                f"Deleting in-progress snapshot is not supported. Wait until {snapshot_id} is"
                " complete, or update the stack, which ends it"
            )
        request = DropSnapshotRequest(snapshot_id)
        operation = self._ports.operation_on(stack, Action.SIGNAL, request)

        def guard(inside: TransactionReader) -> None:
            live(inside, stack)
            if not inside.has_snapshot(snapshot_id):
                raise _not_found(snapshot_id)

        await self._store.commit(PublicChange(stack.id, puts=(operation,), guards=(guard,)))
        await await_end(self._store, operation.id)

    async def restore(self, caller: Caller, address: StackAddress, snapshot_id: str) -> None:
        """Record a restore: an update to the input and the contents of the snapshot.

        Raises ActionInProgressError while an operation is open, NotSupportedError for a snapshot
        that is not complete.
        """
        stack = await self._finder.at(caller, address)
        snapshot = await self._snapshot(stack, snapshot_id)
        status, reason = await self._state(snapshot)
        if status is not Status.COMPLETE:
            raise NotSupportedError(
                f"the snapshot {snapshot_id} is {status}, {reason or 'not complete'}"
            )
        evaluation = await evaluation_at(self._ports, stack, snapshot.input_id)

        def check() -> None:
            require_types(self._ports.policy, caller, evaluation)

        await self._ports.workers.compute(check)
        parts = await self._store.snapshot_parts(snapshot_id)
        await require_own_objects(self._ports, stack, parts)
        request = ChangeRequest(
            settings={"description": description_of(evaluation)}, restores=(snapshot_id,)
        )
        operation = self._ports.operation_on(stack, Action.RESTORE, request, snapshot.input_id)

        def guard(inside: TransactionReader) -> None:
            now = live(inside, stack)
            require_updatable(now)
            require_rest(now, inside.queue(stack.id))
            if not inside.has_snapshot(snapshot_id):
                raise _not_found(snapshot_id)

        await self._store.commit(PublicChange(stack.id, puts=(operation,), guards=(guard,)))

    async def _snapshot(self, stack: Stack, snapshot_id: str) -> Snapshot:
        found = await self._store.snapshot(snapshot_id)
        if found is None or found.stack_id != stack.id:
            raise _not_found(snapshot_id)
        return found

    async def _state(self, snapshot: Snapshot) -> tuple[Status, str | None]:
        """Return the status of a snapshot, and the reason."""
        if snapshot.status is not Status.IN_PROGRESS:
            return snapshot.status, snapshot.reason
        status, reason = await self._store.operation_status(snapshot.operation_id) or (None, "")
        if status is OperationStatus.COMPLETE:
            return Status.COMPLETE, _TAKEN
        if status is not None and not status.final:
            return Status.IN_PROGRESS, None
        return Status.FAILED, reason or "Stack SNAPSHOT was given up for a later request"

    async def _view(self, stack: Stack, snapshot: Snapshot) -> SnapshotView:
        stack_input = await self._store.input(snapshot.input_id)
        evaluation = await evaluation_at(self._ports, stack, snapshot.input_id)
        status, reason = await self._state(snapshot)
        parts = await self._store.snapshot_parts(snapshot.id)
        state = dict(snapshot.stack_state)
        if status is Status.COMPLETE:
            state.update(action=Action.SNAPSHOT, status=status)

        def data() -> dict[str, Any]:
            environment = environment_view(evaluation)
            environment.pop("encrypted_param_names", None)
            resources = _entries(parts, ())
            return stack_document(stack, stack_input, environment, resources, state)

        return SnapshotView(
            snapshot.id,
            snapshot.name,
            status,
            reason,
            snapshot.created_at,
            await self._ports.workers.compute(data),
        )


def _not_found(snapshot_id: str) -> NotFoundError:
    return NotFoundError(f"Snapshot with id {snapshot_id[:255]} not found", NOT_FOUND)


def _entries(parts: Sequence[SnapshotPart], way: tuple[str, ...]) -> dict[str, Any]:
    """Return the resources of one stack in a snapshot by name, with nested ones inside."""
    found = {}
    for part in parts:
        if part.path[:-1] != way or not part.complete:
            continue
        state = Action.SNAPSHOT, Status.COMPLETE
        entry = resource_document(
            part.path[-1], part.physical_id, part.type_name, state, part.metadata, part.data
        )
        if part.nested_id is not None:
            entry["resources"] = _entries(parts, part.path)
        found[part.path[-1]] = entry
    return found
