"""Sends creates, and recovers those whose response was lost.

In: the caller of a type, whose row is in progress and may record earlier requests. Out: the answer
of the cloud, or the outcome in its place.

The send time is committed before the request is sent, and removed when the cloud rejects the
request: a rejected create has created nothing, so nothing is searched for afterwards. If no
response arrives, the object is searched for until the request can no longer take effect. Only then
it is sent again. An object from an earlier request that appears later is surplus: it is deleted
when the operation ends, and when the resource is deleted.

Objects of most types have the token of their row. For other types, the object is searched for
before the first request is sent (:mod:`vacancy`). If there is one, it has another owner: the create
fails and names the holder, unless that is a resource of this tree that is about to be removed,
which hands its object over. If there is none, the send time on the row records that, and proves
that an object which is found later was created by our request.

Tested by tests/recovery/test_late_calls.py, tests/recovery/test_shortages.py and the simulation.
"""

from __future__ import annotations

import asyncio

from stoker.engine.execution.calls.ownership import is_unproven
from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller
from stoker.engine.execution.calls.vacancy import held_by
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.backoff import Backoff
from stoker.kernel.errors import MachineError, NotFoundError, is_final, machine_errors
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
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

_SEARCH_PAUSES = Backoff(0.25, 5.0, growth=1.5)
_MOST_SEND_TIMES = 16  # of one row
SEARCHING = "looking for what the last request may have made"
LANDING = "waiting until an earlier create request can no longer take effect"


def may_be_lost(row: Resource, work: TypeCall) -> bool:
    """Return whether the call may create an object that can be found after a lost response."""
    if row.action is not Action.CREATE or work.service is None:
        return False
    # A create that was handed a link may be sent again to bring it to its properties.
    return (row.physical_id is None or bool(work.type.link)) and can(work.type, Adopts)


async def create(caller: TypeCaller, work: TypeCall) -> Outcome:
    """Return the answer to a create whose response may be lost.

    Raises :class:`stoker.kernel.errors.RequestError` when the cloud finally rejects it.
    """
    faults, attempt = caller.session.ports.faults, 0
    until = _landed_by(caller) if caller.row.asked else 0.0
    while True:
        row = caller.row
        if row.physical_id is None and not row.asked and is_unproven(work.type, row.properties):
            held = await held_by(caller, work)
            if held is not None:
                return held
        outcome: Outcome
        before = caller.row
        try:
            outcome = await _send(caller, work)
        except ENDS_TURN:
            raise
        except Exception as error:
            if is_final(error):
                caller.row, outcome = before, Failed(str(error))
            elif caller.row is before:
                raise  # The send time is not on record: no request was sent.
            else:
                await _search_after(caller, error, before, work)
                until = max(until, _now(caller) + faults.lands_within(error))
                if caller.row.physical_id is not None and before.physical_id is None:
                    return Wait(after=0.0)
                if faults.retry_after(error, attempt) is not None:
                    await caller.pause(error, attempt)
                    attempt += 1
                    continue
                outcome = Failed(faults.describe(error))
        if isinstance(outcome, Failed) and outcome.physical_id is None and caller.row.asked:
            return await _unless_made(caller, work, outcome, until)
        return outcome


async def _send(caller: TypeCaller, work: TypeCall) -> Outcome:
    """Send one request, with its send time on record before, and return the answer.

    Without an answer, the row keeps the send time; with one, the next commit removes it.
    """
    service, before, is_sent = work.service, caller.row, False
    assert service is not None
    try:
        with machine_errors():
            call = await caller.prepared(work)
            async with caller.session.ports.workers.admission(service) as run:
                sent = (*before.asked, _now(caller))[-_MOST_SEND_TIMES:]
                await caller.record(asked=sent)
                is_sent = True
                outcome: Outcome = await caller.send(work, call, run)
    except MachineError as lack:
        if is_sent and not lack.in_flight:
            caller.row = before
            await _record_unsent(caller, work)
        raise
    caller.row = before
    return outcome


async def _record_unsent(caller: TypeCaller, work: TypeCall) -> None:
    """Record that no request is in flight. An object that shows its owner is searched for once."""
    send_times = caller.row.asked
    if not is_unproven(work.type, caller.row.properties):
        landed = _now(caller) - caller.session.ports.limits.landing
        send_times = (*send_times, landed)[-_MOST_SEND_TIMES:]
    await caller.record(asked=send_times)


def _landed_by(caller: TypeCaller) -> float:
    """Return the time after which no recorded request of the row takes effect; 0 for none."""
    row, limits = caller.row, caller.session.ports.limits
    sent = max(row.asked, default=0.0)
    done = not row.asked or sent < limits.cloud_since or caller.session.is_answered(row)
    return 0.0 if done else sent + limits.landing


async def _search_after(
    caller: TypeCaller, error: Exception, before: Resource, work: TypeCall
) -> None:
    """Record the effect of a request without an answer: its object, or that it had none.

    ``before`` is the row without the send time of the request.
    """
    lands = caller.session.ports.faults.lands_within(error)
    if lands <= 0:
        caller.row = before
        await caller.record()
    elif before.physical_id is None:
        await _search(caller, work.type, 0.0 if work.type.unique else _now(caller) + lands)
    # Otherwise a link was handed over: the request may still change it.


async def _unless_made(
    caller: TypeCaller, work: TypeCall, outcome: Outcome, until: float
) -> Outcome:
    """Find out whether an earlier request has created the object that a rejection is about.

    An object that does not show its owner is searched for until no request can create it any
    longer. An object that appears after that was created by others.
    """
    if caller.row.physical_id is not None:
        return outcome
    unproven = is_unproven(work.type, caller.row.properties)
    await _search(caller, work.type, until if unproven else 0.0)
    if caller.row.physical_id is not None:
        return Wait(after=0.0)
    if unproven:
        caller.row = replace(caller.row, asked=())
    return outcome


async def find_lost(caller: TypeCaller, type_: ManagedType) -> None:
    """Search for the object of a create that was cut off, and record it if it is there.

    Returns without it once no request can create it any longer. A row without a send time has no
    object: nothing was sent, or the cloud rejected it.
    """
    row = caller.row
    if not row.asked or not can(type_, Adopts):
        return
    if row.physical_id is not None:
        if row.action is Action.DELETE and is_unproven(type_, row.properties):
            await _wait_until_landed(caller)
        return
    lands = await caller.end_of_orphan()
    until = _landed_by(caller)
    if lands is not None:
        until = min(until, _now(caller) + lands)
    if type_.unique and row.action is not Action.DELETE:
        until = 0.0
    await _search(caller, type_, until)


async def _wait_until_landed(caller: TypeCaller) -> None:
    """Wait until no earlier request can create again the object that is about to be deleted."""
    while (left := _landed_by(caller) - _now(caller)) > 0:
        await caller.show(LANDING)
        await caller.waiting.sleep(left)


async def _search(caller: TypeCaller, type_: ManagedType, until: float) -> None:
    """Search for the object once, and again until that time; record it if it is found."""
    assert can(type_, Adopts)
    work = TypeCall(type_, type_.find, caller.row.properties)
    for pause in _SEARCH_PAUSES:
        found: str | None
        try:
            found = await caller.ask(work)
        except NotFoundError:
            found = None  # an object that it needs does not exist, so it does not either
        if found is not None:
            # Another of several requests may have created an object too.
            asked = caller.row.asked if len(caller.row.asked) > 1 else ()
            await caller.record(physical_id=found, asked=asked)
            return
        left = until - _now(caller)
        if left <= 0:
            return
        if pause > 1:
            await caller.show(SEARCHING)
        await caller.waiting.sleep(min(pause, left))


async def sweep(session: Session, waiting: Waiting) -> None:
    """Remove objects of lost creates of a stack, in addition to its recorded objects."""
    surplus = [
        row
        for row in session.rows.values()
        if row.asked and row.physical_id is not None and row.status is Status.COMPLETE
    ]
    if surplus:
        await asyncio.gather(*(sweep_row(TypeCaller(session, waiting, row)) for row in surplus))


async def sweep_row(caller: TypeCaller) -> None:
    """Remove surplus objects of one row. If that fails, the next sweep tries again."""
    row, session = caller.row, caller.session
    type_ = session.type_of(row)
    if not row.asked or not isinstance(type_, ManagedType) or not can(type_, Sweeps):
        return
    try:
        removed = await caller.once(TypeCall(type_, type_.sweep, row.properties))
    except ENDS_TURN:
        raise
    except Exception as error:  # noqa: BLE001 - the object itself is fine
        reason = session.ports.faults.describe(error)
        log.warning("surplus objects not removed", resource=row.name, reason=reason)
        return
    if removed:
        log.warning("surplus objects removed", resource=row.name, ids=", ".join(removed))
    if max(row.asked) + session.ports.limits.landing <= _now(caller):
        await caller.record(asked=())


def _now(caller: TypeCaller) -> float:
    return caller.session.ports.clock.now()
