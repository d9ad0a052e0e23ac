"""Removes a row and its object: the remove step of an operation."""

from __future__ import annotations

from stoker.engine.execution.calls.actions import ActionFailedError, ResourceActions
from stoker.engine.execution.calls.build import physical_name
from stoker.engine.execution.calls.ownership import Ownership
from stoker.engine.execution.calls.type_caller import TypeCall, remove_user
from stoker.engine.execution.nested.nesting import Nesting
from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.hooks import Hooks
from stoker.engine.execution.steps.snapshot_removal import drop_snapshots, forget_snapshots
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.plans import Definitions, Node, Phase, Plan
from stoker.engine.model.records import Action, Operation, Resource, Status, is_nested
from stoker.engine.planning.planner import left_over
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    ManagedType,
    ResourceType,
    SnapshotFacts,
    Snapshots,
    can,
)
from stoker.template.definition import DeletionPolicy

_SNAPSHOT_OF = "snapshot_of_delete"
"""Key of a row's data: the start of the delete for which its object has been snapshotted."""


class RemoveStep:
    """The remove steps of one operation."""

    def __init__(
        self,
        session: Session,
        operation: Operation,
        wanted: Definitions,
        actions: ResourceActions,
        nesting: Nesting,
        hooks: Hooks,
    ) -> None:
        self._session = session
        self._operation = operation
        self._abandons = operation.abandons
        self._wanted = frozenset(wanted.names)
        self._actions = actions
        self._nesting = nesting
        self._hooks = hooks
        self._ownership = Ownership(session)

    async def remove(self, node: Node) -> None:
        """Remove the row unless it is gone, or turned out not to be replaced."""
        row = self._session.rows.get(node.key)
        if row is None or (row.name in self._wanted and row.replaced_by is None):
            return
        if row.action is Action.INIT:
            # It has no event yet.
            await self._session.commit(dropped=[row.id])
            return
        if (row.action, row.status) == (Action.DELETE, Status.COMPLETE):
            # Its object is gone, with an event. Only a hook may keep the row.
            await self._drop(row)
            return
        # what has no implementation failed before any type was asked: it has no object
        retained = row.external or row.deletion_policy == DeletionPolicy.RETAIN
        if self._abandons and not is_nested(row):
            row = await self._abandon(row)
        elif retained or await self._is_shared(row) or not row.implementation:
            row = await self._begin(row, None)
        else:
            row = await self._delete(row)
        await self._complete(row)

    def left_over(self, plan: Plan) -> Phase:
        """The removal of rows that have been replaced though the plan did not foresee it."""
        return left_over(plan, self._session.rows.values())

    async def remove_snapshots(self, waiting: Waiting) -> str | None:
        """Remove the snapshots of the stack; returns why one of them cannot be removed, or None.

        Raises :class:`stoker.engine.execution.waiting.StoppedError`.
        """
        known = await self._session.ports.store.snapshots(self._session.stack.id)
        if self._abandons:
            await forget_snapshots(self._session, known)
            return None
        return await drop_snapshots(self._session, known, waiting)

    async def _is_shared(self, row: Resource) -> bool:
        return await self._ownership.is_shared(row, self._session.type_of(row))

    async def _begin(self, row: Resource, calls: ResourceType | None) -> Resource:
        if (row.action, row.status) == (Action.DELETE, Status.IN_PROGRESS):
            return row
        row = await self._hooks.before(row, Action.DELETE)
        return await self._actions.begin(row, Action.DELETE, calls=calls)

    async def _abandon(self, row: Resource) -> Resource:
        """Keep the object; remove its user for callbacks, which belongs to the service."""
        type_ = self._session.type_of(row)
        row = await self._begin(row, None)
        if "user_id" not in row.data or type_ is None:
            return row
        await remove_user(self._session, row, type_)
        return row

    async def _delete(self, row: Resource) -> Resource:
        type_ = self._session.type_of(row)
        if is_nested(row):
            return await self._nesting.remove(await self._begin(row, type_), self._operation)
        if not isinstance(type_, ManagedType):
            row = await self._begin(row, type_)
            reason = f"the resource type {row.type_name} is not installed here; install it again"
            raise ActionFailedError(await self._actions.fail(row, reason), reason)
        row = await self._begin(row, type_)
        row = await self._actions.adopt_lost(row, type_)
        if row.deletion_policy == DeletionPolicy.SNAPSHOT and can(type_, Snapshots):
            row = await self._snapshot(row, type_)
        work = TypeCall(type_, type_.delete, row.properties)
        return await self._actions.run(row, work)

    async def _snapshot(self, row: Resource, type_: ManagedType) -> Resource:
        """Snapshot the object before its delete, once even across restarts; return the row."""
        began = row.action_started_at
        if row.physical_id is None or row.data.get(_SNAPSHOT_OF) == began:
            return row
        assert can(type_, Snapshots)
        limit, own = type_.physical_name_limit, self._session.stack.name
        name = f"{physical_name(own, row.name, row.token, limit)}-{int(began or 0)}"
        work = TypeCall(type_, type_.snapshot, row.properties, snapshot=SnapshotFacts(name))
        row = await self._actions.run(row, work)
        row = replace(row, data={**row.data, _SNAPSHOT_OF: began}, progress={})
        await self._session.commit(resources=[row])
        return row

    async def _complete(self, row: Resource) -> None:
        """Drop the row in the transaction of its event, unless a hook follows."""
        done, told = self._session.transitions.resource_to(
            row, Action.DELETE, Status.COMPLETE, "state changed"
        )
        done, paused = await self._hooks.reached(done, "post-delete")
        if not paused:
            await self._session.commit(dropped=[done.id], events=[told])
            return
        await self._session.commit(resources=[done], events=[told, *paused])
        await self._drop(done)

    async def _drop(self, row: Resource) -> None:
        row = await self._hooks.passed(row)
        await self._session.commit(dropped=[row.id])
