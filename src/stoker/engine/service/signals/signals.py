"""Signals: stored before they are acknowledged, applied once.

A signal becomes a row together with its event; the driver of the stack is told and hands the
stored signals to those who wait. What counts twice is the type's business: it sees all signals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.session import StackRows
from stoker.engine.execution.steps.hooks import release_details, releases_of, stands_at
from stoker.engine.model.interfaces import Guard, Ports, PublicChange, TransactionReader
from stoker.engine.model.kinds import ReactRequest, Request, RestartRequest, ScaleRequest
from stoker.engine.model.records import (
    CREATION_SIGNAL,
    UNSET_HOOK,
    Action,
    Event,
    Resource,
    Stack,
    Status,
    StoredSignal,
)
from stoker.engine.model.requests import Caller
from stoker.engine.service.signals.reports import (
    MOST_TRIES,
    ConcurrentUpdateError,
    has_creation_policy,
    report,
    resting_event,
    signal_event,
)
from stoker.engine.service.stack_access.guards import (
    is_suspended,
    live,
    require_room_for_signal,
    signal_size,
)
from stoker.engine.service.stack_access.lookup import Finder, current_rows, require_own, row_of
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import (
    ACTION_NOT_SUPPORTED,
    INVALID_HOOK,
    RESOURCE_NOT_FOUND,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
    ValidationError,
)
from stoker.schema.resource_type import (
    AdjustsGroup,
    Deploys,
    Reacts,
    ResourceType,
    RestartsResource,
    Signals,
    can,
)
from stoker.template.environment.registry import HOOKS

_LONGEST_ID = 64


class _SignalRejectedError(ValidationError):
    """The resource does not take what the signal says."""


class SignalService:
    """Accepts signals for resources."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By resource: reading its signals, judging one by them and storing it is one step."""

    async def signal(
        self,
        caller: Caller,
        address: StackAddress,
        name: str,
        details: Mapping[str, Any] | None,
        *,
        must_fit: bool = False,
    ) -> None:
        """Store a signal and return; it is applied afterwards.

        Raises ValidationError for a resource that takes no signals, or not now. A signal that
        clears a hook is for any resource that stands at that hook. One whose body the resource
        does not take becomes an event and nothing else; Invalid as well where it ``must_fit``.
        """
        stack = await self._finder.at(caller, address)
        lock = self._locks.setdefault(f"{stack.id}/{name}", asyncio.Lock())
        async with lock:
            for _ in range(MOST_TRIES):
                try:
                    await self._apply(caller, stack, name, details)
                    return
                except _SignalRejectedError:
                    if must_fit:
                        raise
                    return
                except ConcurrentUpdateError:
                    continue  # by another process: what it has stored is to be counted with
        raise LimitExceededError(f"{name} gets too many signals at once; send this one again")

    async def creation_signal(
        self, caller: Caller, address: StackAddress, name: str, unique_id: str, *, success: bool
    ) -> None:
        """Store what a creation policy waits for; other resources are signalled as ever.

        Raises ValidationError for a resource that waits for nothing.
        """
        stack = await self._finder.at(caller, address)
        told = "SUCCESS" if success else "FAILURE"
        given = await self._ports.store.input(stack.input_id)
        if not has_creation_policy(given, name):
            details = {"Status": told, "UniqueId": unique_id, "Reason": "", "Data": ""}
            await self.signal(caller, address, name, details)
            return
        row = row_of(current_rows(await self._ports.store.resources(stack.id)), name, stack)
        require_own(caller, row)
        now = self._ports.clock.now()
        heard = {CREATION_SIGNAL: [unique_id[:_LONGEST_ID], success]}
        signal = StoredSignal(self._ports.ids.uuid(), stack.id, row.id, now, heard)

        def guard(inside: TransactionReader) -> None:
            if not inside.has_resource(row.id):
                raise NotFoundError(f"{name} has been deleted in the meantime", RESOURCE_NOT_FOUND)
            require_room_for_signal(inside, self._ports.limits, row, len(unique_id))

        if (row.action, row.status) != (Action.CREATE, Status.IN_PROGRESS):
            raise ValidationError(
                f"Resource {name} is in {row.action}_{row.status} state and cannot be signaled",
                ACTION_NOT_SUPPORTED,
            )
        reason = f"Received {told} signal with UniqueId {unique_id[:_LONGEST_ID]}"
        await self._record(row, reason, signal, guard)

    async def _apply(
        self, caller: Caller, stack: Stack, name: str, details: Mapping[str, Any] | None
    ) -> None:
        """Judge a signal by those that are there and store it, if none came in between."""
        limits = self._ports.limits
        size = signal_size(limits, name, details or {})
        rows = await self._ports.store.resources(stack.id)
        stack_rows = StackRows(self._ports, stack, rows)
        row = row_of(current_rows(rows), name, stack)
        require_own(caller, row)
        if details and UNSET_HOOK in details:
            await self._release_hook(stack_rows, name, details[UNSET_HOOK])
            return
        type_ = stack_rows.type_of(row)
        if can(type_, Deploys):
            await report(stack_rows, row, type_, details or {})
            return
        if not can(type_, Signals):
            raise ValidationError(
                f"{name} is a {row.type_name}, which takes no signals",
                ACTION_NOT_SUPPORTED,
            )
        if row.action is Action.DELETE:
            raise ValidationError(f"{name} is being deleted and no longer takes signals")
        if row.action is Action.SUSPEND or (can(type_, AdjustsGroup) and is_suspended(stack)):
            await self._reject(stack_rows, resting_event(self._ports, row))
            raise NotSupportedError(_resting(stack))
        await stack_rows.load_signals_of(row.id)
        known = len(stack_rows.signals.get(row.id, ()))
        call = build_call(stack_rows, row, type_)
        try:
            accepted = type_.check_signal(call, details or {})
        except ValidationError as invalid:
            message = f"Signal refused: {invalid.message}"
            await self._reject(stack_rows, signal_event(self._ports, row, message))
            raise _SignalRejectedError(invalid.message) from None
        request = request_by_signal(row, type_)
        if request is not None:
            await self._operate(stack, row, request, accepted, size)
            return
        signal = StoredSignal(
            self._ports.ids.uuid(), stack.id, row.id, self._ports.clock.now(), accepted
        )

        def guard(inside: TransactionReader) -> None:
            if not inside.has_resource(row.id):
                raise NotFoundError(f"{name} has been deleted in the meantime", RESOURCE_NOT_FOUND)
            if inside.signals_of(row.id).count != known:
                raise ConcurrentUpdateError
            require_room_for_signal(inside, limits, row, size)

        await self._record(row, type_.signal_reason(call, accepted), signal, guard)

    async def _release_hook(self, stack_rows: StackRows, name: str, hook: Any) -> None:
        """Store that a hook is cleared. Clearing it twice is harmless."""
        if hook not in HOOKS:
            known = ", ".join(HOOKS)
            raise ValidationError(
                f'"{str(hook)[:80]}" is not a hook; hooks are {known}', INVALID_HOOK
            )
        stack_id, store = stack_rows.stack.id, self._ports.store
        changes = [op for op in await store.queue(stack_id) if op.action is not Action.SIGNAL]
        # rows of replaced objects, which bear the same name, stand at hooks as well
        standing = [
            row
            for row in stack_rows.rows.values()
            if row.name == name and changes and stands_at(row, hook, changes[-1])
        ]
        if not standing:
            raise ValidationError(
                f"{name} does not stand at the hook {hook}: it has not come there yet, or the hook"
                " is cleared already",
                INVALID_HOOK,
            )
        await stack_rows.load_signals()
        ids, now = self._ports.ids, self._ports.clock.now()
        releases = tuple(
            StoredSignal(ids.uuid(), stack_id, row.id, now, release_details(row))
            for row in standing
            if not releases_of(stack_rows.hook_releases, row)
        )
        if releases:
            await store.commit(PublicChange(stack_id, signals=releases))

    async def _operate(
        self, stack: Stack, row: Resource, request: Request, details: Mapping[str, Any], size: int
    ) -> None:
        """Record the operation that applies the signal; its end tells what came of it.

        ``details`` are kept as a signal of the operation's id, as long as it is open.
        """
        waiting = await self._ports.store.queue(stack.id)
        if len(waiting) >= self._ports.limits.signals_per_resource:
            raise LimitExceededError(
                f"{len(waiting)} signals for this stack have not been applied yet; send more later"
            )
        operation = self._ports.operation_on(stack, Action.SIGNAL, request)

        def guard(inside: TransactionReader) -> None:
            if is_suspended(live(inside, stack)):
                raise NotSupportedError(_resting(stack))
            if not inside.has_resource(row.id):
                raise NotFoundError(
                    f"{row.name} has been deleted in the meantime", RESOURCE_NOT_FOUND
                )
            require_room_for_signal(inside, self._ports.limits, row, size if details else 0)

        signals: tuple[StoredSignal, ...] = ()
        if details:
            now = self._ports.clock.now()
            signals = (StoredSignal(operation.id, stack.id, row.id, now, details),)
        change = PublicChange(stack.id, operations=(operation,), signals=signals, guards=(guard,))
        await self._ports.store.commit(change)

    async def _reject(self, stack_rows: StackRows, event: Event) -> None:
        """Record the event of a signal that is not accepted."""
        store, stack_id = self._ports.store, stack_rows.stack.id
        await store.commit(PublicChange(stack_id, events=(event,)))
        # Nothing else bounds the events of signals that are rejected again and again.
        await store.tidy(stack_id, stack_rows.events_to_keep)

    async def _record(
        self,
        row: Resource,
        reason: str,
        signal: StoredSignal | None,
        *guards: Guard,
    ) -> None:
        change = PublicChange(
            row.stack_id,
            events=(signal_event(self._ports, row, reason),),
            signals=(signal,) if signal else (),
            guards=guards,
        )
        await self._ports.store.commit(change)


def request_by_signal(row: Resource, type_: ResourceType | None) -> Request | None:
    """The operation that a signal to a resource asks for; None where it is only told to it."""
    if can(type_, AdjustsGroup):
        return ScaleRequest(row.id)
    if can(type_, Reacts):
        return ReactRequest(row.id)
    return RestartRequest(row.id) if can(type_, RestartsResource) else None


def _resting(stack: Stack) -> str:
    return f"Signal resource during SUSPEND is not supported. Resume {stack.name} first"
