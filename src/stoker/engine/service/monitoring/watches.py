"""Evaluates watch rules when they are due, and lets users set states of alarms.

A new state, its event and the actions that follow are written in one transaction. A guard checks
that the watch still has the state that the change is based on. So each action follows a change
exactly once, however many engines evaluate the watch and whenever one of them dies.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import (
    Guard,
    Key,
    Ports,
    PublicChange,
    StoreError,
    TransactionReader,
)
from stoker.engine.model.records import Action, Operation, PublicRecord, StoredSignal
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.watches import Watch
from stoker.engine.service.monitoring.alarms import Alarms, rule_of
from stoker.engine.service.signals.handlers import request_by_signal
from stoker.engine.service.signals.reports import signal_event
from stoker.engine.service.stack_access.guards import is_deleting, is_suspended
from stoker.kernel.errors import LimitExceededError, ValidationError
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.schema.resource_type import Signals, can
from stoker.schema.watching import WatchRule, WatchState, judge

log = Log(__name__)

AT_ONCE = 20  # watches that one call evaluates
_LATER = 60.0  # seconds until the next attempt at a watch that cannot be evaluated now


class _ConcurrentUpdateError(Exception):
    """The watch has changed since it was read."""


class Watches:
    """Changes the states of watches."""

    def __init__(self, ports: Ports, alarms: Alarms) -> None:
        self._ports = ports
        self._alarms = alarms

    async def set_state(self, caller: Caller, name: str, state: WatchState, reason: str) -> None:
        """Set the state of an alarm, and run its actions. The next evaluation may change it again.

        Raises NotFoundError, and LimitExceededError if the stack has too many open operations.
        """

        async def become(watch: Watch) -> bool:
            return await self._become(watch, state, reason, watch.next_at)

        await self._change(caller, name, become)

    async def act(self, caller: Caller, names: Sequence[str], *, acts: bool) -> None:
        """Enable or disable the actions of alarms.

        Raises NotFoundError, and then changes nothing.
        """

        async def change(watch: Watch) -> bool:
            return await self._commit(watch, [replace(watch, acts=acts)])

        for name in names:
            await self._alarms.of(caller, name)
        for name in names:
            await self._change(caller, name, change)

    async def _change(
        self, caller: Caller, name: str, change: Callable[[Watch], Awaitable[bool]]
    ) -> None:
        """Change the alarm with a name. Try again for as long as other changes interfere."""
        while not all([await change(watch) for watch in await self._alarms.of(caller, name)]):
            continue

    async def evaluate_due(self) -> float | None:
        """Evaluate watches that are due, a bounded number of them.

        Returns the time at which the next one is due, or None if there is none.
        """
        now = self._ports.clock.now()
        for watch in await self._ports.store.due_watches(now, AT_ONCE):
            try:
                await self._evaluate(watch, now)
            except StoreError:
                raise
            except Exception:
                log.exception("watch not looked at", watch=watch.name)
                await self._put_off(watch, now + _LATER)
        return await self._ports.store.next_watch_at()

    async def _evaluate(self, watch: Watch, now: float) -> None:
        stack = await self._ports.store.stack(watch.stack_id)
        row = await self._ports.store.resource(watch.resource_id)
        if stack is None or stack.deleted_at is not None or row is None:
            await self._commit(watch, drops=[Key(Watch, watch.resource_id)])
            return
        rule = rule_of(self._ports, stack, row)
        if rule is None or is_deleting(stack) or is_suspended(stack):
            await self._put_off(watch, now + _LATER)
            return
        # The periods are contiguous, even if they are evaluated late. After an outage, they start
        # now.
        end = watch.next_at if now - watch.next_at < rule.period else now
        since = end - rule.period * rule.periods
        measured = await self._ports.store.measurements(watch.resource_id, since)
        verdict = judge(rule, measured, watch.created_at, end)
        state, reason = verdict or (watch.state, watch.reason)
        try:
            await self._become(watch, state, reason, end + rule.period, rule)
        except LimitExceededError:
            await self._put_off(watch, end + rule.period)  # the state changes when there is room

    async def _put_off(self, watch: Watch, until: float) -> None:
        """Postpone the next evaluation."""
        await self._commit(watch, [replace(watch, next_at=until)])

    async def _become(
        self,
        watch: Watch,
        state: WatchState,
        reason: str,
        next_at: float,
        rule: WatchRule | None = None,
    ) -> bool:
        """Record the state. If it is new, record its event and start its actions as well.

        Returns False if the watch has changed in the meantime. Raises LimitExceededError.
        """
        new = replace(watch, state=state, reason=reason, next_at=next_at)
        if state is watch.state:
            return await self._commit(watch, [new])
        stack = await self._ports.store.stack(watch.stack_id)
        if rule is None:
            rule = next((view.rule for view in await self._alarms.views([watch])), None)
        if stack is None or rule is None:
            return True
        rows = StackRows(self._ports, stack, await self._ports.store.resources(stack.id))
        operations, signals, unheard = self._asked(rows, rule.actions[state] if watch.acts else ())
        waiting = await self._ports.store.queue(stack.id)
        if len(waiting) + len(operations) > self._ports.limits.signals_per_resource:
            raise LimitExceededError(f"too much is waiting for the stack of the alarm {watch.name}")
        event_reason = f"{watch.state} -> {state}: {reason}"
        if unheard:
            event_reason += (
                f"; {unheard} of the actions name nothing in this stack that takes signals"
            )
        own = rows.rows[watch.resource_id]
        event = await signal_event(self._ports, stack, own, event_reason)
        new = replace(new, changed_at=self._ports.clock.now())
        written = await self._commit(watch, [new, *operations, *signals, event])
        await self._ports.store.tidy(stack.id, rows.events_to_keep)
        return written

    def _asked(
        self, rows: StackRows, actions: Sequence[object]
    ) -> tuple[list[Operation], list[StoredSignal], int]:
        """Return the operations and signals for actions, and the number of actions left over."""
        standing = {
            str(rows.reference_of(row)): row
            for row in rows.current.values()
            if row.action is not Action.DELETE
        }
        operations: list[Operation] = []
        signals: list[StoredSignal] = []
        unheard = 0
        for action in dict.fromkeys(map(str, actions)):
            row = standing.get(action)
            type_ = rows.type_of(row) if row is not None else None
            if row is None or not can(type_, Signals):
                unheard += 1
                continue
            request = request_by_signal(row, type_)
            if request is not None:
                operations.append(self._ports.operation_on(rows.stack, Action.SIGNAL, request))
                continue
            try:
                details = type_.check_signal(build_call(rows, row, type_), {})
            except ValidationError:
                unheard += 1
                continue
            now = self._ports.clock.now()
            signals.append(
                StoredSignal(self._ports.ids.uuid(), rows.stack.id, row.id, now, details)
            )
        return operations, signals, unheard

    async def _commit(
        self,
        before: Watch,
        puts: Sequence[PublicRecord] = (),
        drops: Sequence[Key[PublicRecord]] = (),
    ) -> bool:
        """Commit a change of a watch and its consequences.

        Returns False if the watch has changed in the meantime.
        """
        change = PublicChange(before.stack_id, puts, drops, guards=(_unchanged(before),))
        try:
            await self._ports.store.commit(change)
        except _ConcurrentUpdateError:  # Another engine has evaluated it, or it was deleted.
            return False
        return True


def _unchanged(watch: Watch) -> Guard:
    """Return a guard that raises if the watch has changed."""

    def guard(inside: TransactionReader) -> None:
        if inside.watch(watch.resource_id) != watch:
            raise _ConcurrentUpdateError

    return guard
