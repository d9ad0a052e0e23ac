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

from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
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
from stoker.kernel.log import Log
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
    """Return whether the row waits at the hook since this operation, not cleared yet."""
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

    def __init__(
        self, session: Session, operation: Operation, wanted: Definitions, waiting: Waiting
    ) -> None:
        self._session = session
        self._operation = operation
        self._wanted = wanted
        self._waiting = waiting
        self._marks: Marks | None = None
        self._loading = asyncio.Lock()

    async def before(self, row: Resource, action: Action) -> Resource:
        """Stop at the hook before an action; returns the row once nothing holds it any more.

        Raises :class:`StoppedError`.
        """
        row, events = await self.reached(row, f"pre-{action.lower()}")
        if events:
            await self._session.commit(resources=[row], events=events)
        return await self.passed(row)

    async def reached(self, row: Resource, hook: str) -> tuple[Resource, list[Event]]:
        """Return the row at the hook, and its event, to be committed together.

        Without such a hook in the environment, or if this operation has reached it before, the row
        is unchanged and there is no event.
        """
        if row.external or hook not in await self._hooks_of(row.name):
            return row, []
        state = row.hook
        if state.get(_OPERATION) != self._operation.id:
            state = {_OPERATION: self._operation.id, _AT: None, _PASSED: []}
        if hook == state[_AT] or hook in state[_PASSED]:
            return row, []
        event = self._session.transitions.event_of(replace(row, reason=pause_reason(hook)))
        return replace(row, hook={**state, _AT: hook}), [event]

    async def passed(self, row: Resource) -> Resource:
        """Wait until the hook of the row, if any, is cleared; return the row.

        Raises :class:`StoppedError`; the row stays what it was.
        """
        hook = hook_of(row)
        if hook is None:
            return row
        while True:
            seen = self._waiting.round
            heard = releases_of(self._session.hook_releases, row)
            if heard:
                break
            await self._waiting.wait(_UNTIL_CLEARED, seen)
        row = replace(row, hook={**row.hook, _AT: None, _PASSED: [*row.hook[_PASSED], hook]})
        told = replace(row, reason=f"Hook {hook} is cleared")
        event = self._session.transitions.event_of(told)
        await self._session.commit(resources=[row], events=[event], dropped_signals=heard)
        return row

    async def _hooks_of(self, name: str) -> frozenset[str]:
        if self._marks is None:
            async with self._loading:  # once, however many resources ask at the same time
                if self._marks is None:
                    self._marks = await self._load()
        return self._marks.of(name)

    async def _load(self) -> Marks:
        """Return the hooks in the environment of the stack, or of the service."""
        marks = await self._named()
        # Rollbacks and cancelled operations ignore hooks: no user would clear them.
        return Marks() if marks and await self._needs_nobody() else marks

    async def _named(self) -> Marks:
        if isinstance(self._wanted, Evaluation):
            return self._wanted.resolver.hooks
        ports = self._session.ports
        known = ports.kept.get(self._session.stack.input_id)
        if known is not None:
            return known.resolver.hooks
        try:
            given = await self._session.input()
            environment = parse_environment(given.environment)
        except ENDS_TURN:
            raise
        except Exception:  # a stack that cannot be read any more must still go
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
