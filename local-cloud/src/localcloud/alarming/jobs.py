"""Evaluates alarms and changes their states.

Each alarm is evaluated again about once in the granularity of its measures, and at the latest after
a minute, as Aodh does. A changed state is written to the store before the actions are taken.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from localcloud.alarming.actions import Actions
from localcloud.alarming.conditions import Finding, Measured, judged, of_members, of_prometheus
from localcloud.alarming.model import schedule
from localcloud.alarming.model.state import ALARM, OK, UNKNOWN, State
from localcloud.core.store import Document
from localcloud.identity.service_trusts import Trusts
from localcloud.load_balancer.service import LoadBalancingService
from localcloud.metrics.instance import Metrics
from localcloud.web.http import RequestContext

_LOG = logging.getLogger(__name__)
_TICK = 1
_LONGEST = 60  # seconds between two evaluations, at most; Aodh's interval
_USUAL = 5  # for alarms that say nothing of spans of time


class Watch:
    """Evaluates alarms for as long as there are any."""

    def __init__(self, state: State, trusts: Trusts, actions: Actions) -> None:
        self._state = state
        self._trusts = trusts
        self._actions = actions
        self._measured = Measured(state.cloud.one(Metrics))
        self._due: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Watch from now on, until there is nothing to watch."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Watch no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def soon(self, alarm_id: str) -> None:
        """Evaluate an alarm immediately."""
        self._due.pop(alarm_id, None)
        self.begin()

    def _watched(self) -> list[Document]:
        every = self._state.alarms.values()
        return [alarm for alarm in every if alarm["enabled"] and alarm["type"] != "event"]

    async def _run(self) -> None:
        while watched := self._watched():
            now = self._state.cloud.clock.now().timestamp()
            self._due = {a["id"]: self._due[a["id"]] for a in watched if a["id"] in self._due}
            for alarm in watched:
                if self._due.get(alarm["id"], 0) <= now:
                    self._due[alarm["id"]] = now + _interval(alarm)
                    await self._evaluate(alarm["id"])
            await self._state.cloud.clock.sleep(_TICK)

    async def _evaluate(self, alarm_id: str) -> None:
        try:
            await self.evaluate(alarm_id)
        except Exception:  # noqa: BLE001  (the others are watched nevertheless)
            _LOG.exception("alarm %s could not be evaluated", alarm_id)

    async def evaluate(self, alarm_id: str) -> None:
        """Evaluate an alarm, change its state, and take its actions."""
        alarm = self._state.alarms.get(alarm_id)
        if alarm is None or not alarm["enabled"]:
            return
        if not schedule.allows(alarm["time_constraints"], self._state.cloud.clock.now()):
            return
        found = await self._finding(alarm)
        latest = self._state.alarms.get(alarm_id)
        if latest is not None and latest["rule"] == alarm["rule"] and latest["enabled"]:
            self.settle(latest, found)

    def settle(self, alarm: Document, found: Finding) -> None:
        """Change the state of an alarm. Take its actions if the state is new or the alarm repeats
        them.
        """
        previous, state = alarm["state"], found.state
        if state is None:
            state = found.trend if previous == UNKNOWN else previous
        if state is None or (state == previous and not alarm["repeat_actions"]):
            return
        if state == previous:
            reason = f"Remaining as {state} due to {found.reason}"
        else:
            reason = f"Transition to {state} due to {found.reason}"
            alarm = self._state.move(alarm, state, reason)
        self._actions.take(alarm, previous, reason, found.data)

    async def _finding(self, alarm: Document) -> Finding:
        who = RequestContext(alarm["user_id"], project_id=alarm["project_id"])
        if alarm["type"] == "composite":
            return await self._joined(alarm["rule"], who)
        return await self._single(alarm["type"], alarm["rule"], who)

    async def _single(self, kind: str, rule: Document, who: RequestContext) -> Finding:
        if kind == "prometheus":
            endpoint = self._trusts.endpoint("prometheus")
            return await asyncio.to_thread(of_prometheus, endpoint, rule)
        if kind == "loadbalancer_member_health":
            return of_members(self._state.cloud.one(LoadBalancingService), who, rule)
        return judged(self._measured.values(who, kind, rule), rule)

    async def _joined(self, rule: Document, who: RequestContext) -> Finding:
        numbered: list[Finding] = []

        async def find(part: Document) -> tuple[str | None, str]:
            """Return the state of a part, and its form in words."""
            if "type" in part:
                found = await self._single(part["type"], part, who)
                numbered.append(found)
                return found.state or found.trend, f"rule{len(numbered)}"
            return await _together(part, find)

        state, form = await find(rule)
        causes = [f"rule{n}" for n, each in enumerate(numbered, 1) if each.state == state]
        reason = f"Composite rule alarm with composition form: {form}, rules: {' '.join(causes)}"
        findings: dict[str, Any] = {"type": "composite", "composition_form": form}
        for number, each in enumerate(numbered, 1):
            findings[f"rule{number}"] = {"state": each.state or each.trend, "reason": each.reason}
        return Finding(state, None, reason, findings)


async def _together(
    part: Document, find: Callable[[Document], Awaitable[tuple[str | None, str]]]
) -> tuple[str | None, str]:
    ((word, inner),) = part.items()
    found = [await find(each) for each in inner]
    form = f"({f' {word} '.join(form for _, form in found)})"
    states = [state for state, _ in found]
    decisive, rest = (ALARM, OK) if word == "or" else (OK, ALARM)
    if decisive in states:
        return decisive, form
    return (rest if all(state == rest for state in states) else UNKNOWN), form


def _interval(alarm: Document) -> float:
    """Return the seconds until the next evaluation: about the granularity of the measures."""
    return float(min([*_granularities(alarm["rule"]), _LONGEST]))


def _granularities(rule: Document) -> list[int]:
    inner = rule.get("and") or rule.get("or")
    if inner is not None:
        return [each for part in inner for each in _granularities(part)]
    return [rule.get("granularity", _USUAL)]
