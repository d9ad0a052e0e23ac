"""Sends creates, and recovers those whose response was lost.

The send time is committed before the request is sent, and removed when the cloud rejects the
request: a rejected create made nothing, so nothing is searched for afterwards. If no response
arrives, the object is searched for until the request can no longer take effect. Only then it is
sent again. An object from an earlier request that appears later is surplus: it is deleted when the
operation ends, and when the resource is deleted.

Objects of most types carry the token of their row. Where they do not, the object is looked for
before the first request is sent. If there is one, it is not ours: the create fails and names the
holder, unless that is a resource of this tree that is about to go, which hands its object over.
If there is none, the send time on the row is the record of that, and proves that an object which
is found later was made by our request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.engine.execution.calls.ownership import is_unproven
from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller
from stoker.engine.execution.calls.vacancy import Vacancy
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.errors import MachineError, NotFoundError, is_final
from stoker.kernel.log import Log
from stoker.kernel.values import replace
from stoker.schema.creation_policy import signals_wanted
from stoker.schema.resource_type import (
    Adopts,
    Failed,
    ManagedType,
    Outcome,
    Sweeps,
    Wait,
    can,
)

log = Log(__name__)

_FIRST_PAUSE = 0.25
_GROWTH = 1.5
_LONGEST_PAUSE = 5.0
_MOST = 16
"""Requests that are kept on record of one row."""
_REMOVAL_PAUSE_SECONDS = 2.0
LOOKING = "looking for what the last request may have made"
LANDING = "waiting until an earlier create request can no longer take effect"


class CreateRecovery:
    """Creates of one session."""

    def __init__(self, session: Session, waiting: Waiting, calls: TypeCaller) -> None:
        self._session = session
        self._waiting = waiting
        self._calls = calls
        self.vacancy = Vacancy(session, calls)

    async def create(self, row: Resource, work: TypeCall) -> tuple[Resource, Outcome]:
        """The row, and the answer to a create that may make an object unseen.

        Raises :class:`stoker.kernel.errors.Refused` when the cloud refuses for good.
        """
        outcome: Outcome
        faults = self._session.ports.faults
        attempt = 0
        until = self._landed_by(row)
        while True:
            if row.physical_id is None and not row.asked and is_unproven(work.type, row.properties):
                row, held = await self.vacancy.check(row, work)
                if held is not None:
                    return row, held
            sent = _Sent(row, self._session)
            try:
                outcome = await self._calls.once(row, work, sent.note)
            except MachineError as lack:
                if sent.made and not lack.in_flight:
                    await sent.end(searched_for=not is_unproven(work.type, row.properties))
                raise
            except ENDS_TURN:
                raise
            except Exception as error:
                if is_final(error):
                    outcome = Failed(str(error))
                    return await self._unless_made(row, work, outcome, until)
                if not sent.made:
                    raise
                row = await self._after(error, sent, work)
                until = max(until, self._now() + faults.lands_within(error))
                if row.physical_id is not None and sent.before.physical_id is None:
                    outcome = Wait(after=0.0)
                elif faults.retry_after(error, attempt) is None:
                    outcome = Failed(faults.describe(error))
                else:
                    row = await self._calls.pause(row, error, attempt)
                    attempt += 1
                    continue
            return await self._unless_made(row, work, outcome, until)

    def _landed_by(self, row: Resource) -> float:
        """Return the time after which no recorded request of the row takes effect; 0 for none."""
        limits, sent = self._session.ports.limits, max(row.asked, default=0.0)
        done = not row.asked or sent < limits.cloud_since or self._session.is_answered(row)
        return 0.0 if done else sent + limits.landing

    async def _after(self, error: Exception, sent: _Sent, work: TypeCall) -> Resource:
        """The row after a call without an answer, with its object if there turns out to be one."""
        lands = self._session.ports.faults.lands_within(error)
        if lands > 0 and sent.before.physical_id is not None:
            return sent.row  # a link that was handed over: the request may still change it
        if lands > 0:
            until = 0.0 if work.type.unique else self._now() + lands
            return await self._look(sent.row, work.type, until)
        await self._session.commit(resources=[sent.before])
        return sent.before

    async def _unless_made(
        self, row: Resource, work: TypeCall, outcome: Outcome, until: float
    ) -> tuple[Resource, Outcome]:
        """Find out whether an earlier request has made the object that a rejection is about.

        An object that does not show its owner is searched for until no request can make it any
        more. An object that appears later was made by others.
        """
        lost = row.physical_id is None and bool(row.asked)
        if isinstance(outcome, Failed) and outcome.physical_id is None and lost:
            unproven = is_unproven(work.type, row.properties)
            row = await self._look(row, work.type, until if unproven else 0.0)
            if row.physical_id is not None:
                return row, Wait(after=0.0)
            if unproven:
                row = replace(row, asked=())
        return row, outcome

    async def adopt(self, row: Resource, type_: ManagedType) -> Resource:
        """Search for the object of a create that was cut off, and record it if it is there.

        Returns the row without it when no request can make it any more. A row without a send time
        has no object: nothing was sent, or the cloud rejected it.
        """
        if not row.asked or not can(type_, Adopts):
            return row
        if row.physical_id is not None:
            if row.action is Action.DELETE and is_unproven(type_, row.properties):
                await self._landed(row)
            return row
        lands = await self._calls.end_of_orphan(row)
        until = self._landed_by(row)
        if lands is not None:
            until = min(until, self._now() + lands)
        if type_.unique and row.action is not Action.DELETE:
            until = 0.0
        return await self._look(row, type_, until)

    async def _landed(self, row: Resource) -> None:
        """Wait until no earlier request can create again the object that is about to be deleted."""
        while (left := self._landed_by(row) - self._now()) > 0:
            await self._calls.tell(row, LANDING)
            await self._waiting.wait(Wait(after=left), self._waiting.round)

    async def _look(self, row: Resource, type_: ManagedType, until: float) -> Resource:
        """Look for the object once, and again until that time."""
        assert can(type_, Adopts)
        work = TypeCall(type_, type_.find, row.properties)
        pause = _FIRST_PAUSE
        while True:
            found: str | None
            try:
                found = await self._calls.ask(row, work)
            except NotFoundError:
                found = None  # what it was to be made of is gone, so it is as well
            if found is not None:
                # of several requests another one may have made something too
                asked = row.asked if len(row.asked) > 1 else ()
                row = replace(row, physical_id=found, asked=asked)
                await self._session.commit(resources=[row])
                return row
            left = until - self._now()
            if left <= 0:
                return row
            if pause > 1:
                row = await self._calls.tell(row, LOOKING)
            await self._waiting.wait(Wait(after=min(pause, left)), self._waiting.round)
            pause = min(pause * _GROWTH, _LONGEST_PAUSE)

    async def heard(self, row: Resource, policy: Mapping[str, Any]) -> tuple[Resource, str | None]:
        """Wait for the success signals of a create; return the row, or why the wait failed.

        The time counts from the start of the create, also across a restart.
        """
        wanted = signals_wanted(policy) if policy and row.action is Action.CREATE else None
        while wanted is not None:
            seen = self._waiting.round
            signals = self._session.creation_signals.get(row.id, {})
            came, failures = len(signals), sum(not success for success in signals.values())
            if failures > wanted.count - wanted.needed:
                told = f"Received {failures} FAILURE signal(s) out of {wanted.count}"
                return row, f"{told}. {wanted.needed} have to tell of success"
            if came - failures >= wanted.needed:
                break
            left = (row.action_started_at or self._now()) + wanted.seconds - self._now()
            told = f"{came} of {wanted.count} resource signals received"
            if left <= 0:
                return row, f"{told} within the specified duration of {wanted.seconds:.0f} seconds"
            waits = replace(row, reason=told)
            if waits != self._session.rows.get(row.id):
                await self._session.commit(resources=[waits])
            row = waits
            try:
                await self._waiting.wait(Wait(after=left, on_signal=True), seen)
            except StoppedError:
                if self._waiting.stopped:
                    raise
                return row, f"{row.action} aborted: {self._waiting.failed}"
        return row, None

    async def sweep(self, rows: Iterable[Resource]) -> None:
        """Remove objects of lost requests beside the rows' own objects."""
        await asyncio.gather(
            *(
                self.sweep_one(row)
                for row in rows
                if row.asked and row.physical_id is not None and row.status is Status.COMPLETE
            )
        )

    async def sweep_one(self, row: Resource) -> None:
        """Do the same for one row; a failed removal is left for the next time."""
        type_ = self._session.type_of(row)
        if not row.asked or not isinstance(type_, ManagedType) or not can(type_, Sweeps):
            return
        work = TypeCall(type_, type_.sweep, row.properties)
        try:
            removed = await self._calls.once(row, work)
        except ENDS_TURN:
            raise
        except Exception as error:  # noqa: BLE001 - the object itself is fine
            reason = self._session.ports.faults.describe(error)
            log.warning("surplus objects not removed", resource=row.name, reason=reason)
            return
        if removed:
            log.warning("surplus objects removed", resource=row.name, ids=", ".join(removed))
        if max(row.asked) + self._session.ports.limits.landing <= self._now():
            await self._session.commit(resources=[replace(row, asked=())])

    def _now(self) -> float:
        return self._session.ports.clock.now()


class _Sent:
    """A create that is being sent: the row without it on record, and with it."""

    def __init__(self, row: Resource, session: Session) -> None:
        self.before = row
        self.row = row
        self.made = False
        """It is on record, and what goes wrong now is the call's."""
        self._session = session

    async def end(self, *, searched_for: bool) -> None:
        """Put on record that no request is in flight, and whether to search for the object once."""
        limits, now = self._session.ports.limits, self._session.ports.clock.now()
        sent = (now - limits.landing,) if searched_for else ()
        asked = (*self.before.asked, *sent)[-_MOST:]
        await self._session.commit(resources=[replace(self.before, asked=asked)])

    async def note(self) -> None:
        """Put on record that the call is made now."""
        asked = (*self.before.asked, self._session.ports.clock.now())[-_MOST:]
        self.row = replace(self.before, asked=asked)
        await self._session.commit(resources=[self.row])
        self.made = True
