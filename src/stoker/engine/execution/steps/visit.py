"""The visit step: suspends, resumes, checks or snapshots one resource.

The type's method gets the properties that were applied last, and only the status of the row
changes. An action is a line in ``METHODS`` and, if it is limited to some states of a resource, a
rule in ``_may``. Called by :class:`Execution`. Tested by tests/operations/test_walks.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.resource_run import ResourceRun
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.nested.nesting import Nesting
from stoker.engine.execution.observe.observing import check_by
from stoker.engine.execution.reasons import (
    ActionFailedError,
    not_installed,
    reason_of_resource,
)
from stoker.engine.model.plans import Node
from stoker.engine.model.records import Action, Resource, Status, is_nested
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

# The method of a type for each action; None if the type does nothing for it.
METHODS: Mapping[Action, Callable[[ResourceType], Method | None]] = {
    Action.SUSPEND: lambda type_: type_.suspend if can(type_, Suspends) else None,
    Action.RESUME: lambda type_: type_.resume if can(type_, Suspends) else None,
    Action.CHECK: lambda type_: type_.check if can(type_, Checks) else None,
    Action.SNAPSHOT: lambda type_: type_.snapshot if can(type_, Snapshots) else None,
}


def is_beyond(action: Action, type_: ResourceType | None) -> bool:
    """Return whether a type does not support an action that would make sense for it."""
    return action is Action.CHECK and type_ is not None and METHODS[action](type_) is None


class VisitStep:
    """The visit steps of one operation."""

    def __init__(self, context: OperationContext) -> None:
        self._context = context
        self._session = context.session
        self._operation = context.operation
        self._action = context.operation.action

    async def visit(self, node: Node) -> None:
        """Do the action, unless an earlier run of this operation has done it."""
        row = self._session.rows[node.key]
        if row.operation_id == self._operation.id and row.status is Status.COMPLETE:
            return
        if not _may(self._action, row):
            state = (row.action.value, row.status.value)
            raise self._refused(row, f"State {state} invalid for {self._action.lower()}")
        run = ResourceRun(self._context, row)
        if is_nested(row):
            await self._begin(run, None)
            await Nesting(self._context).pass_on(run)
        elif is_beyond(self._action, self._session.type_of(row)):
            await self._pass_by(run)
            return
        else:
            await self._call(run)
        await self._complete(run)

    async def _call(self, run: ResourceRun) -> None:
        """Call the method of the type for the action, if it has one."""
        type_ = self._session.type_of(run.row)
        if not isinstance(type_, ManagedType):
            await self._begin(run, None)
            await run.fail(not_installed(run.row))
        method = METHODS[self._action](type_)
        if method is None or (run.row.external and self._action is not Action.CHECK):
            await self._begin(run, None)
            return
        if self._action is Action.CHECK and not run.row.external:
            method = check_by(self._session, type_, method)
        await self._begin(run, type_)
        await self._run(run, type_, method)

    async def _run(self, run: ResourceRun, type_: ManagedType, method: Method) -> None:
        await run.call(TypeCall(type_, method, run.row.properties))

    async def _begin(self, run: ResourceRun, calls: ResourceType | None) -> None:
        if (run.row.action, run.row.status) == (self._action, Status.IN_PROGRESS):
            return  # an engine that died has started it
        if calls is None or self._action is Action.CHECK:
            await run.begin(self._action, calls)
        else:
            await run.begin_change(self._action, calls)

    async def _complete(self, run: ResourceRun) -> None:
        marks = {"unhealthy": False} if self._action is Action.CHECK else {}
        event = run.transition(
            self._action,
            Status.COMPLETE,
            run.row.reason,
            operation_id=self._operation.id,
            **marks,
        )
        await run.record(event)

    async def _pass_by(self, run: ResourceRun) -> None:
        """Record that a resource does not support the action, with an event the first time.

        A failed resource stays failed: without a check, nothing shows that it is healthy.
        """
        row = run.row
        if row.status is Status.FAILED:
            raise self._refused(row, f"{self._action} not supported, and has failed: {row.reason}")
        reason = f"{self._action} not supported for {row.type_name}"
        run.transition(self._action, Status.IN_PROGRESS, reason)
        event = run.transition(self._action, Status.COMPLETE, reason)
        await run.record(*([event] if row.action is not self._action else []))

    def _refused(self, row: Resource, reason: str) -> ActionFailedError:
        """Return the error of an action that was not started; the row stays unchanged."""
        shown = replace(row, action=self._action)
        return ActionFailedError(shown, reason_of_resource(row.name, reason, "Error"))


def _may(action: Action, row: Resource) -> bool:
    """Return whether a resource in this state may have the action.

    An action in progress was started by this operation. A resource whose creation failed can be
    checked, but must not become complete by that. A check must not hide that a resource is
    suspended.
    """
    rests = (row.action, row.status) == (Action.SUSPEND, Status.COMPLETE)
    match action:
        case Action.RESUME:
            return row.action is Action.RESUME or rests
        case Action.CHECK:
            return exists(row) and row.action is not Action.SUSPEND
    return row.action is action or row.status is Status.COMPLETE
