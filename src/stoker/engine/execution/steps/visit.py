"""Does the action of a walk to one row: the visit step of an operation.

The object is called with what was last applied, and the row says afterwards what it said before
of everything but its status. An action is a line in ``METHODS``, and a rule about the states in
which a resource may be where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stoker.engine.execution.calls.actions import (
    ActionFailedError,
    ResourceActions,
    reason_of_resource,
)
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.nested.nesting import Nesting
from stoker.engine.execution.observe.observing import check_by
from stoker.engine.execution.session import Session
from stoker.engine.model.plans import Node
from stoker.engine.model.records import Action, Operation, Resource, Status, is_nested
from stoker.engine.planning.facts import exists
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Call,
    Checks,
    ManagedType,
    Outcome,
    ResourceType,
    Snapshots,
    Suspends,
    can,
)

Method = Callable[[Call], Outcome]

METHODS: Mapping[Action, Callable[[ResourceType], Method | None]] = {
    Action.SUSPEND: lambda type_: type_.suspend if can(type_, Suspends) else None,
    Action.RESUME: lambda type_: type_.resume if can(type_, Suspends) else None,
    Action.CHECK: lambda type_: type_.check if can(type_, Checks) else None,
    Action.SNAPSHOT: lambda type_: type_.snapshot if can(type_, Snapshots) else None,
}
"""What each action calls; None for types that have nothing to do then."""


def is_beyond(action: Action, type_: ResourceType | None) -> bool:
    """Return whether the type does not support the action, though it has a meaning for it."""
    return action is Action.CHECK and type_ is not None and METHODS[action](type_) is None


class VisitStep:
    """The visit steps of one operation."""

    def __init__(
        self, session: Session, operation: Operation, actions: ResourceActions, nesting: Nesting
    ) -> None:
        self._session = session
        self._operation = operation
        self._action = operation.action
        self._actions = actions
        self._nesting = nesting

    async def visit(self, node: Node) -> None:
        """Do the action; nothing when an earlier run of this operation has done it."""
        row = self._session.rows[node.key]
        if row.operation_id == self._operation.id and row.status is Status.COMPLETE:
            return
        if not _may(self._action, row):
            state = (row.action.value, row.status.value)
            raise self._refused(row, f"State {state} invalid for {self._action.lower()}")
        if is_nested(row):
            row = await self._begin(row, None)
            row = await self._nesting.pass_on(row, self._operation)
        elif is_beyond(self._action, self._session.type_of(row)):
            await self._pass_by(row)
            return
        else:
            row = await self._call(row)
        await self._complete(row)

    async def _call(self, row: Resource) -> Resource:
        """The row once its type has done what it does in the action, if anything."""
        type_ = self._session.type_of(row)
        if not isinstance(type_, ManagedType):
            row = await self._begin(row, None)
            reason = f"the resource type {row.type_name} is not installed here; install it again"
            raise ActionFailedError(await self._actions.fail(row, reason), reason)
        method = METHODS[self._action](type_)
        if method is None or (row.external and self._action is not Action.CHECK):
            return await self._begin(row, None)
        if self._action is Action.CHECK and not row.external:
            method = check_by(self._session, type_, method)
        row = await self._begin(row, type_)
        return await self._run(row, type_, method)

    async def _run(self, row: Resource, type_: ManagedType, method: Method) -> Resource:
        return await self._actions.run(row, TypeCall(type_, method, row.properties))

    async def _begin(self, row: Resource, calls: ResourceType | None) -> Resource:
        if (row.action, row.status) == (self._action, Status.IN_PROGRESS):
            return row  # an engine that died has begun it
        if calls is None or self._action is Action.CHECK:
            return await self._actions.begin(row, self._action, calls=calls)
        return await self._actions.begin_change(row, self._action, self._operation, calls)

    async def _complete(self, row: Resource) -> None:
        marks = {"unhealthy": False} if self._action is Action.CHECK else {}
        done, told = self._session.transitions.resource_to(
            row, self._action, Status.COMPLETE, row.reason, operation_id=self._operation.id, **marks
        )
        await self._session.commit(resources=[done], events=[told])

    async def _pass_by(self, row: Resource) -> None:
        """Say of a resource that nobody can do this to it; a second time it is no news.

        One that has failed stays so: nobody knows better.
        """
        if row.status is Status.FAILED:
            raise self._refused(row, f"{self._action} not supported, and has failed: {row.reason}")
        reason = f"{self._action} not supported for {row.type_name}"
        transitions = self._session.transitions
        begun, _ = transitions.resource_to(row, self._action, Status.IN_PROGRESS, reason)
        done, told = transitions.resource_to(begun, self._action, Status.COMPLETE, reason)
        events = [told] if row.action is not self._action else []
        await self._session.commit(resources=[done], events=events)

    def _refused(self, row: Resource, reason: str) -> ActionFailedError:
        """The failure of an action that was not begun: the row stays as it is."""
        shown = replace(row, action=self._action)
        return ActionFailedError(shown, reason_of_resource(row.name, reason, "Error"))


def _may(action: Action, row: Resource) -> bool:
    """Return whether the action may be done to a resource in that state.

    An action in progress has been begun by this operation. What has failed to be made can be looked
    at, but must not count as made; what rests must not be forgotten to rest.
    """
    rests = (row.action, row.status) == (Action.SUSPEND, Status.COMPLETE)
    match action:
        case Action.RESUME:
            return row.action is Action.RESUME or rests
        case Action.CHECK:
            return exists(row) and row.action is not Action.SUSPEND
    return row.action is action or row.status is Status.COMPLETE
