"""Watch rules: measurements come in, alarms are shown, and rules are looked at when they are due.

A change of state, its event and what it asks for are one transaction, guarded by the state that
it begins with: whoever looks, and whatever dies, an action follows a change exactly once.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stoker.engine.execution.calls import make_call
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Append, Guard, Inside, Ports
from stoker.engine.model.records import Action, Operation, Resource, Stack, Status, StoredSignal
from stoker.engine.model.requests import Caller
from stoker.engine.model.transitions import Transitions
from stoker.engine.model.watches import Watch, WatchChange
from stoker.engine.service.guards import is_deleting, is_suspended
from stoker.engine.service.signals import request_by_signal
from stoker.kernel.errors import Invalid, NotFound
from stoker.kernel.log import Log
from stoker.schema.resource_type import Signals, can
from stoker.schema.watching import Measurement, WatchesMetric, WatchRule, WatchState, judge

log = Log(__name__)

AT_ONCE = 20
"""Watches that are looked at in one go."""
ALARM_NAME = "AlarmName"
"""The dimension by which a measurement names the alarm that it is for."""
_LATER = 60.0
"""Seconds until a watch is looked at again that cannot be looked at now."""


class _CameBetween(Exception):
    """The watch is not any more what was read of it."""


@dataclass(frozen=True, slots=True)
class AlarmView:
    """An alarm as users see it."""

    watch: Watch
    rule: WatchRule
    stack_id: str


class Watches:
    """Watch rules, for callers and for whoever looks after them."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._transitions = Transitions(ports.clock, ports.ids)

    async def put_metric_data(
        self,
        caller: Caller,
        namespace: str,
        metric: str,
        value: float,
        *,
        unit: str | None = None,
        dimensions: Mapping[str, str],
    ) -> None:
        """Keep a measurement for the alarm that it names, or for all that watch its metric.

        A metric that nobody watches is accepted. Raises Invalid for a value that is no number, and
        NotFound for an alarm that does not exist.
        """
        if not math.isfinite(value):
            raise Invalid(f"the value of {metric} must be a finite number")
        name = dimensions.get(ALARM_NAME)
        if name is None:
            found = await self._own(caller, metric=(namespace, metric))
        else:
            found = await self._named(caller, name)
        measured = Measurement(self._ports.clock.now(), value, unit)
        for watch in found:
            rule = await self._rule_of(watch)
            if rule is None or (name is None and not rule.dimensions.items() <= dimensions.items()):
                continue
            change = WatchChange(measured=((watch.resource_id, measured),))
            with contextlib.suppress(_CameBetween):  # it is gone
                await self._ports.store.commit(
                    Append(watch.stack_id, watches=change, guard=_there(watch))
                )

    async def alarms(self, caller: Caller, name: str | None = None) -> Sequence[AlarmView]:
        """The alarms of a project, or the one of that name. Raises NotFound."""
        found = await self._named(caller, name) if name is not None else await self._own(caller)
        views = []
        for watch in found:
            rule = await self._rule_of(watch)
            if rule is not None:
                views.append(AlarmView(watch, rule, watch.stack_id))
        return views

    async def set_state(self, caller: Caller, name: str, state: WatchState) -> None:
        """Give an alarm a state, with all that follows; the next look may give it another.

        Raises NotFound.
        """
        for watch in await self._named(caller, name):
            await self._become(watch, state, "set by a user", watch.next_at)

    async def look(self) -> float | None:
        """Look at watches that are due, a bounded number of them.

        Returns when there will be more to look at; None where there is none.
        """
        now = self._ports.clock.now()
        for watch in await self._ports.store.watches.due(now, AT_ONCE):
            try:
                await self._look_at(watch, now)
            except Exception:
                log.exception("watch not looked at", watch=watch.name)
                await self._put_off(watch, now + _LATER)
        return await self._ports.store.watches.next_at()

    async def _own(
        self, caller: Caller, name: str | None = None, metric: tuple[str, str] | None = None
    ) -> Sequence[Watch]:
        return await self._ports.store.watches.watches(caller.project_id, name, metric)

    async def _named(self, caller: Caller, name: str) -> Sequence[Watch]:
        found = await self._own(caller, name)
        if not found:
            raise NotFound(f"The alarm ({name[:255]}) could not be found.")
        return found

    async def _rule_of(self, watch: Watch) -> WatchRule | None:
        """The rule of the watch's resource; None when that is gone."""
        stack = await self._ports.store.stack(watch.stack_id)
        row = await self._ports.store.watches.resource(watch.resource_id)
        return None if stack is None or row is None else self._rule(stack, row)

    def _rule(self, stack: Stack, row: Resource) -> WatchRule | None:
        """The rule that a row describes; None where it stands for nothing any more."""
        rows = StackRows(self._ports, stack, [row])
        type_ = rows.type_of(row)
        if row.replaced_by is not None or not can(type_, WatchesMetric):
            return None
        return type_.rule(make_call(rows, row, type_))

    async def _look_at(self, watch: Watch, now: float) -> None:
        stack = await self._ports.store.stack(watch.stack_id)
        row = await self._ports.store.watches.resource(watch.resource_id)
        if stack is None or stack.deleted_at is not None or row is None:
            await self._commit(watch, WatchChange(dropped=(watch.resource_id,)))
            return
        rule = self._rule(stack, row)
        if rule is None or is_deleting(stack) or is_suspended(stack):
            await self._put_off(watch, now + _LATER)
            return
        # periods follow on each other, however late they are looked at, unless nobody was there
        end = watch.next_at if now - watch.next_at < rule.period else now
        since = end - rule.period * rule.periods
        measured = await self._ports.store.watches.measurements(watch.resource_id, since)
        verdict = judge(rule, measured, watch.created_at, end)
        state, reason = verdict or (watch.state, watch.reason)
        await self._become(watch, state, reason, end + rule.period, rule)

    async def _put_off(self, watch: Watch, until: float) -> None:
        """Look at it later."""
        await self._commit(watch, WatchChange(judged=(replace(watch, next_at=until),)))

    async def _become(
        self,
        watch: Watch,
        state: WatchState,
        reason: str,
        next_at: float,
        rule: WatchRule | None = None,
    ) -> None:
        """Record the state; where it is new, with the event and all that follows from it."""
        new = replace(watch, state=state, reason=reason, next_at=next_at)
        if state is watch.state:
            await self._commit(watch, WatchChange(judged=(new,)))
            return
        stack = await self._ports.store.stack(watch.stack_id)
        rule = rule or await self._rule_of(watch)
        if stack is None or rule is None:
            return
        rows = StackRows(self._ports, stack, await self._ports.store.resources(stack.id))
        operations, signals, unheard = self._asked(rows, rule.actions[state])
        waiting = await self._ports.store.queue(stack.id)
        if len(waiting) + len(operations) > self._ports.limits.signals_per_resource:
            await self._put_off(watch, next_at)  # the state changes when there is room
            return
        told = f"{watch.state} -> {state}: {reason}"
        if unheard:
            told += f"; {unheard} of the actions name nothing in this stack that takes signals"
        own = rows.rows[watch.resource_id]
        event = self._transitions.event_of(
            replace(own, action=Action.SIGNAL, status=Status.COMPLETE, reason=told)
        )
        new = replace(new, changed_at=self._ports.clock.now())
        follows = Append(
            stack.id, operations=tuple(operations), signals=tuple(signals), events=(event,)
        )
        await self._commit(watch, WatchChange(judged=(new,)), follows)
        await self._ports.store.tidy(stack.id, rows.events_to_keep)

    def _asked(
        self, rows: StackRows, actions: Sequence[object]
    ) -> tuple[list[Operation], list[StoredSignal], int]:
        """What the actions of a state ask for, and how many nobody hears."""
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
                details = type_.check_signal(make_call(rows, row, type_), {})
            except Invalid:
                unheard += 1
                continue
            now = self._ports.clock.now()
            signals.append(
                StoredSignal(self._ports.ids.uuid(), rows.stack.id, row.id, now, details)
            )
        return operations, signals, unheard

    async def _commit(
        self, before: Watch, watches: WatchChange, follows: Append | None = None
    ) -> None:
        """Write what becomes of a watch, and what ``follows``, unless it has changed meanwhile."""
        change = replace(
            follows or Append(before.stack_id), watches=watches, guard=_unchanged(before)
        )
        with contextlib.suppress(_CameBetween):  # somebody else has looked at it, or it is gone
            await self._ports.store.commit(change)


def _there(watch: Watch) -> Guard:
    """The watch has not gone."""

    def guard(inside: Inside) -> None:
        if inside.watch(watch.resource_id) is None:
            raise _CameBetween

    return guard


def _unchanged(watch: Watch) -> Guard:
    """The watch is what it was."""

    def guard(inside: Inside) -> None:
        if inside.watch(watch.resource_id) != watch:
            raise _CameBetween

    return guard
