"""Creates: sent once, looked for if the answer was lost, sent again only if nothing is found.

A create whose answer is lost may have been done, or may still be: the service goes on with it,
whatever becomes of the caller. So the time of sending is on record before the call is made, and
as long as the request may be carried out its object is looked for. Only then it is sent again.
Should an earlier request have come to something after all, the object is surplus: it is removed
when the operation ends, and when the resource is deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.engine.execution.session import Session
from stoker.engine.execution.type_calls import TypeCalls, Work
from stoker.engine.execution.waiting import Stopped, Waiting
from stoker.engine.model.interfaces import Fenced
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.errors import NotFound, is_final
from stoker.kernel.log import Log
from stoker.kernel.values import replace
from stoker.schema.creation_policy import signals_wanted
from stoker.schema.resource_type import Adopts, Failed, ManagedType, Outcome, Sweeps, Wait, can

log = Log(__name__)

_FIRST_PAUSE = 0.25
_GROWTH = 1.5
_LONGEST_PAUSE = 5.0
_MOST = 16
"""Requests that are kept on record of one row."""
LOOKING = "looking for what the last request may have made"


class Creating:
    """Creates of one session."""

    def __init__(self, session: Session, waiting: Waiting, calls: TypeCalls) -> None:
        self._session = session
        self._waiting = waiting
        self._calls = calls

    async def create(self, row: Resource, work: Work) -> tuple[Resource, Outcome]:
        """The row, and the answer to a create that may make an object unseen.

        Raises :class:`stoker.kernel.errors.Refused` when the cloud refuses for good.
        """
        outcome: Outcome
        faults = self._session.ports.faults
        attempt = 0
        while True:
            sent = _Sent(row, self._session)
            try:
                outcome = await self._calls.once(row, work, sent.note)
            except Fenced:
                raise
            except Exception as error:
                if is_final(error):
                    outcome = Failed(str(error))
                    return await self._unless_made(row, work, outcome)
                if not sent.made:
                    raise
                row = await self._after(error, sent, work)
                if row.physical_id is not None:
                    outcome = Wait(after=0.0)
                elif faults.retry_after(error, attempt) is None:
                    outcome = Failed(faults.describe(error))
                else:
                    row = await self._calls.pause(row, error, attempt)
                    attempt += 1
                    continue
            return await self._unless_made(row, work, outcome)

    async def _after(self, error: Exception, sent: _Sent, work: Work) -> Resource:
        """The row after a call without an answer, with its object if there turns out to be one."""
        lands = self._session.ports.faults.lands_within(error)
        if lands > 0:
            until = 0.0 if work.type.unique else self._now() + lands
            return await self._look(sent.row, work.type, until)
        await self._session.commit(resources=[sent.before])
        return sent.before

    async def _unless_made(
        self, row: Resource, work: Work, outcome: Outcome
    ) -> tuple[Resource, Outcome]:
        """A refusal may tell of the very object that an earlier request has made."""
        if isinstance(outcome, Failed) and outcome.physical_id is None and row.asked:
            row = await self._look(row, work.type, 0.0)
            if row.physical_id is not None:
                return row, Wait(after=0.0)
        return row, outcome

    async def adopt(self, row: Resource, type_: ManagedType) -> Resource:
        """Look for the object of a create that was cut off, and record it if it is there.

        Comes back without it when no request can make it any more.
        """
        if row.physical_id is not None or not can(type_, Adopts):
            return row
        limits = self._session.ports.limits
        lands = await self._calls.end_of_orphan(row)
        sent = max(row.asked, default=0.0)
        until = sent + limits.landing if sent >= limits.cloud_since else 0.0
        if lands is not None:
            until = min(until, self._now() + lands)
        if self._session.is_answered(row):
            until = 0.0
        if type_.unique and row.action is not Action.DELETE:
            until = 0.0
        return await self._look(row, type_, until)

    async def _look(self, row: Resource, type_: ManagedType, until: float) -> Resource:
        """Look for the object once, and again until that time."""
        assert can(type_, Adopts)
        work = Work(type_, type_.find, row.properties)
        pause = _FIRST_PAUSE
        while True:
            found: str | None
            try:
                found = await self._calls.ask(row, work)
            except NotFound:
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
        """The row once enough signals have told that the object is in use, or why that failed.

        The time counts from the beginning of the create, whatever dies in between.
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
            except Stopped:
                if self._waiting.stopped:
                    raise
                return row, f"{row.action} aborted: {self._waiting.failed}"
        return row, None

    async def sweep(self, rows: Iterable[Resource]) -> None:
        """Remove what requests whose end was never known have made beside the rows' objects."""
        await asyncio.gather(
            *(
                self.sweep_one(row)
                for row in rows
                if row.asked and row.physical_id is not None and row.status is Status.COMPLETE
            )
        )

    async def sweep_one(self, row: Resource) -> None:
        """The same for one row; what cannot be removed now is left for the next time."""
        type_ = self._session.type_of(row)
        if not row.asked or not isinstance(type_, ManagedType) or not can(type_, Sweeps):
            return
        work = Work(type_, type_.sweep, row.properties)
        try:
            removed = await self._calls.once(row, work)
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

    async def note(self) -> None:
        """Put on record that the call is made now."""
        asked = (*self.before.asked, self._session.ports.clock.now())[-_MOST:]
        self.row = replace(self.before, asked=asked)
        await self._session.commit(resources=[self.row])
        self.made = True
