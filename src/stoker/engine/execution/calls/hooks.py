"""Hooks: points at which the action on a resource pauses until a user clears them.

A row reaches a hook in the transaction of its event, so that an engine which starts again finds the
row at the same hook and writes no event twice. A user clears the hook with a signal, which is
stored before it is answered and names the operation. It counts once, and never for a later
operation. The row records the passed hooks until the end of the operation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from stoker.engine.execution.calls.type_caller import TypeCaller
from stoker.engine.execution.session import Session
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.plans import Definitions
from stoker.engine.model.records import (
    UNSET_HOOK,
    Action,
    Event,
    Operation,
    Queued,
    Resource,
    StoredSignal,
)
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.schema.resource_type import Wait
from stoker.template.environment.environment import parse_environment
from stoker.template.environment.single_resources import Marks, hooks_in
from stoker.template.evaluate.evaluation import Evaluation

log = Log(__name__)

_OPERATION = "operation"
_AT = "at"
_PASSED = "passed"
_UNTIL_CLEARED = Wait(after=3600, on_signal=True)


def hook_of(row: Resource) -> str | None:
    """Return the hook at which the row waits, or None."""
    hook: str | None = row.hook.get(_AT)
    return hook


def pause_reason(hook: str) -> str:
    """Return the reason of a resource that waits at a hook; clients match on it."""
    action = hook.partition("-")[2].upper()
    return f"{action} paused until Hook {hook} is cleared"


def release_details(row: Resource) -> dict[str, Any]:
    """Return the details of a signal that clears the hook of the row."""
    return {UNSET_HOOK: row.hook[_AT], _OPERATION: row.hook[_OPERATION]}


def stands_at(row: Resource, hook: str, operation: Queued) -> bool:
    """Return whether the row has reached the hook in this operation, and waits there."""
    return row.hook.get(_AT) == hook and row.hook[_OPERATION] == operation.id


def releases_of(releases: Sequence[StoredSignal], row: Resource) -> list[str]:
    """Return the ids of the signals that clear the hook of the row."""
    details = release_details(row)
    return [each.id for each in releases if each.resource_id == row.id and each.details == details]


def superseded_pauses(session: Session) -> tuple[list[Resource], list[str]]:
    """Return rows that earlier operations left at hooks, without them, and all clearing signals.

    A new operation writes the rows and drops the signals, as their operations have ended.
    """
    rows = [replace(row, hook={}) for row in session.rows.values() if hook_of(row) is not None]
    return rows, [each.id for each in session.hook_releases]


class Hooks:
    """The hooks of one operation."""

    def __init__(self, session: Session, operation: Operation, desired: Definitions | None) -> None:
        self._session = session
        self._operation = operation
        self._desired = desired
        self._marks: Marks | None = None
        self._loading = asyncio.Lock()

    def is_at_hook(self, row: Resource) -> bool:
        """Return whether the row waits at a hook, so that no call is in flight."""
        return hook_of(row) is not None

    async def stop_before(self, caller: TypeCaller, action: Action) -> None:
        """Wait at the hook before an action until it is cleared. Raises :class:`StoppedError`."""
        events = await self.reach(caller, "pre", action)
        if events:
            await caller.record(*events)
        if caller.row.hook:
            await self.wait_until_cleared(caller)

    async def reach(self, caller: TypeCaller, side: str, action: Action) -> Sequence[Event]:
        """Move the row to the hook at a ``side`` of an action: ``pre`` or ``post``.

        Return the event that must be committed with it. Without such a hook in the environment, or
        if this operation has reached it before, the row is unchanged and there is no event.
        """
        row = caller.row
        # An action on an external object changes nothing that a user could want to stop.
        if row.external:
            return ()
        marks = self._marks if self._marks is not None else await self._load()
        if not marks or (hook := f"{side}-{action.lower()}") not in marks.of(row.name):
            return ()
        state = row.hook
        if state.get(_OPERATION) != self._operation.id:
            state = {_OPERATION: self._operation.id, _AT: None, _PASSED: []}
        if hook == state[_AT] or hook in state[_PASSED]:
            return ()
        caller.row = replace(row, hook={**state, _AT: hook})
        return [self._session.transitions.event_of(replace(row, reason=pause_reason(hook)))]

    async def wait_until_cleared(self, caller: TypeCaller) -> None:
        """Wait until the hook of the row, if any, is cleared.

        Raises :class:`StoppedError`; the row stays at its hook then.
        """
        hook, session = hook_of(caller.row), self._session
        if hook is None:
            return
        while True:
            seen = caller.waiting.round
            releases = releases_of(session.hook_releases, caller.row)
            if releases:
                break
            await caller.waiting.wait(_UNTIL_CLEARED, seen)
        passed = [*caller.row.hook[_PASSED], hook]
        row = caller.row = replace(caller.row, hook={**caller.row.hook, _AT: None, _PASSED: passed})
        event = session.transitions.event_of(replace(row, reason=f"Hook {hook} is cleared"))
        await session.commit(resources=[row], events=[event], dropped_signals=releases)

    async def _load(self) -> Marks:
        """Return the hooks in the environment of the stack, or of the service."""
        async with self._loading:  # load once, even if many resources need the marks
            if self._marks is None:
                marks = await self._named()
                # Rollbacks and cancelled operations ignore hooks: no user would clear them.
                self._marks = Marks() if marks and await self._needs_nobody() else marks
        return self._marks

    async def _named(self) -> Marks:
        if isinstance(self._desired, Evaluation):
            return self._desired.resolver.hooks
        ports = self._session.ports
        known = ports.evaluations.get(self._session.stack.input_id)
        if known is not None:
            return known.resolver.hooks
        try:
            stack_input = await self._session.input()
            environment = parse_environment(stack_input.environment)
        except ENDS_TURN:
            raise
        except Exception:  # an unreadable stack must still be deletable
            log.exception("environment not readable", stack=self._session.stack.id)
            environment = parse_environment({})
        return hooks_in(environment.resource_registry, ports.service_environment.resource_registry)

    async def _needs_nobody(self) -> bool:
        """Return whether the operation is a cancel, or a rollback or a part of one."""
        operation: Operation | None = self._operation
        if self._operation.kind is OperationKind.CANCEL:
            return True
        while operation is not None and operation.action is not Action.ROLLBACK:
            above = operation.parent_operation
            operation = await self._session.ports.store.operation(above) if above else None
        return operation is not None
