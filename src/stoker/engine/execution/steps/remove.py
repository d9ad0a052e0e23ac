"""Removes a row and its object: the remove step of an operation.

In: a node of the plan. The object is deleted through the type of the row, unless a policy or
another resource keeps it. It is searched for first if the response to its create was lost. Out: the
row is dropped in the transaction of its last event, unless a hook follows the delete. Called by
:mod:`stoker.engine.execution.execute`. Tested by tests/operations, tests/hooks and the simulation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

from stoker.engine.execution.calls.build import name_of_object
from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.create_recovery import find_lost
from stoker.engine.execution.calls.ownership import Ownership
from stoker.engine.execution.calls.resource_run import ResourceRun
from stoker.engine.execution.calls.type_caller import TypeCall, remove_user
from stoker.engine.execution.nested.nesting import Nesting
from stoker.engine.execution.reasons import not_installed
from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.snapshot_removal import drop_snapshots, forget_snapshots
from stoker.engine.model.plans import Definitions, Node, Phase, Plan
from stoker.engine.model.records import Action, Resource, Status, is_nested
from stoker.engine.planning.planner import left_over
from stoker.schema.resource_type import (
    ManagedType,
    ResourceType,
    SnapshotFacts,
    Snapshots,
    can,
)
from stoker.template.definition import DeletionPolicy

# Key in a row's data: start of the delete that has snapshotted the object.
_SNAPSHOT_OF = "snapshot_of_delete"
# Key in the data of a nested stack's row: its objects, if they are released.
_RELEASED = "released_objects"
_MOST_NAMED = 100  # objects in one event


class RemoveStep:
    """The remove steps of one operation."""

    def __init__(self, context: OperationContext, desired: Definitions) -> None:
        self._context = context
        self._session = context.session
        self._operation = context.operation
        self._desired = frozenset(desired.names)
        self._ownership = Ownership(context.session)

    async def remove(self, node: Node) -> None:
        """Remove the row unless it was removed before, or was not replaced after all."""
        row = self._session.rows.get(node.key)
        if row is None or (row.name in self._desired and row.replaced_by is None):
            return
        if row.action is Action.INIT:
            # A row in INIT has no event yet, so its removal needs none.
            await self._session.commit(dropped=[row.id])
            return
        run, type_ = ResourceRun(self._context, row), self._session.type_of(row)
        if (row.action, row.status) == (Action.DELETE, Status.COMPLETE):
            # Its object is deleted, and the event recorded. Only a hook may keep the row.
            await self._drop(run)
            return
        # A row without an implementation failed before any type was called: it has no object.
        retained = row.external or row.deletion_policy == DeletionPolicy.RETAIN
        keeps_object = self._operation.abandons or self._operation.releases(row)
        if keeps_object and not is_nested(row):
            await self._abandon(run, type_)
        elif retained or await self._ownership.is_shared(row, type_) or not row.implementation:
            await self._begin(run, None)
        else:
            await self._delete(run, type_)
        await self._complete(run)

    async def needs_end(self, node: Node, early: Collection[str]) -> Collection[str]:
        """Return which deletes in progress must end before this one starts."""
        row = self._session.rows.get(node.key)
        if row is None or is_nested(row):
            return early
        type_ = self._session.type_of(row)
        return () if type_ is not None and type_.deleted_early else early

    async def _begin(self, run: ResourceRun, calls: ResourceType | None) -> None:
        if (run.row.action, run.row.status) == (Action.DELETE, Status.IN_PROGRESS):
            return
        await run.stop_before(Action.DELETE)
        await run.begin(Action.DELETE, calls)

    async def _abandon(self, run: ResourceRun, type_: ResourceType | None) -> None:
        """Keep the object; remove its user for callbacks, which belongs to the service."""
        await self._begin(run, None)
        if "user_id" in run.row.data and type_ is not None:
            await remove_user(self._session, run.row, type_)

    async def _delete(self, run: ResourceRun, type_: ResourceType | None) -> None:
        await self._begin(run, type_)
        if is_nested(run.row):
            releases = self._operation.releases(run.row)
            if releases and _RELEASED not in run.row.data:
                # The rows inside are dropped before the event of this one.
                released = [each async for each in self._objects_inside(run.row)]
                await run.record(data={**run.row.data, _RELEASED: released})
            await Nesting(self._context).remove(run, abandons=releases)
            return
        if not isinstance(type_, ManagedType):
            await run.fail(not_installed(run.row))
        await find_lost(run, type_)
        if run.row.deletion_policy == DeletionPolicy.SNAPSHOT and can(type_, Snapshots):
            await self._snapshot(run, type_)
        express = self._context.is_express
        await run.call(TypeCall(type_, type_.delete, run.row.properties, lets_others_start=express))

    async def _objects_inside(self, nested: Resource, above: str = "") -> AsyncIterator[str]:
        """Yield path and id of each object in a nested stack."""
        rows = await self._session.ports.store.resources(nested.nested_id or "")
        for row in sorted(rows, key=lambda row: (len(row.name), row.name)):
            if is_nested(row):
                async for each in self._objects_inside(row, f"{above}{row.name}/"):
                    yield each
            elif self._has_object(row):
                yield f"{above}{row.name} {row.physical_id}"

    def _has_object(self, row: Resource) -> bool:
        type_ = self._session.type_of(row)
        return row.physical_id is not None and type_ is not None and type_.service is not None

    async def _snapshot(self, run: ResourceRun, type_: ManagedType) -> None:
        """Snapshot the object before its delete, once even across restarts."""
        row, began = run.row, run.row.action_started_at
        if row.physical_id is None or row.data.get(_SNAPSHOT_OF) == began:
            return
        assert can(type_, Snapshots)
        limit, own = type_.physical_name_limit, self._session.stack.name
        name = f"{name_of_object(own, row, limit)}-{int(began or 0)}"
        facts = SnapshotFacts(name)
        await run.call(TypeCall(type_, type_.snapshot, row.properties, snapshot=facts))
        await run.record(data={**run.row.data, _SNAPSHOT_OF: began}, progress={})

    async def _complete(self, run: ResourceRun) -> None:
        """Drop the row in the transaction of its event, unless a hook follows."""
        reason = "state changed"
        if is_nested(run.row) and (released := run.row.data.get(_RELEASED)):
            named, more = ", ".join(released[:_MOST_NAMED]), len(released) - _MOST_NAMED
            rest = f" and {more} more" if more > 0 else ""
            reason = f"released {named}{rest}; their objects stay"
        elif self._operation.releases(run.row) and self._has_object(run.row):
            reason = f"released {run.row.physical_id}; its object stays"
        event = run.transition(Action.DELETE, Status.COMPLETE, reason)
        paused = await self._context.hooks.reach(run, "post", Action.DELETE)
        if not paused:
            await self._session.commit(dropped=[run.row.id], events=[event])
            return
        await run.record(event, *paused)
        await self._drop(run)

    async def _drop(self, run: ResourceRun) -> None:
        await self._context.hooks.wait_until_cleared(run)
        await self._session.commit(dropped=[run.row.id])


def unforeseen(session: Session, plan: Plan) -> Phase | None:
    """Return the removal of rows that were replaced though the plan did not foresee it, if any."""
    replaced = [row for row in session.rows.values() if row.replaced_by is not None]
    return left_over(plan, replaced) if replaced else None


async def remove_snapshots(context: OperationContext) -> str | None:
    """Remove the snapshots of the stack. Return why one of them cannot be removed, or None.

    Raises :class:`stoker.engine.execution.waiting.StoppedError`.
    """
    session = context.session
    known = await session.ports.store.snapshots(session.stack.id)
    if context.operation.abandons:
        await forget_snapshots(session, known)
        return None
    return await drop_snapshots(session, known, context.waiting)
