"""Release of stacks: all events must be handled before, and none is lost after the driver ends."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from stoker.dispatch.lease import LEASE_S, HeartbeatLease, clock
from stoker.dispatch.turns import GATHERS, Turns
from stoker.engine.execution.session import Session
from stoker.engine.model.orphaned_calls import Ended
from stoker.engine.model.storage.turns import TurnQueue
from stoker.engine.operations.driver import _may_be_sent
from stoker.kernel.values import replace
from tests.engine_world import Lab, in_lab, template, thing


async def session_of(lab: Lab) -> Session:
    """A driver's view of a stack that is complete."""
    await lab.create(template({"a": thing()}))
    store = lab.engine.ports.store
    stack = await lab.stack()
    return Session.driving(lab.engine.ports, stack, await store.resources(stack.id))


def test_stack_without_requests_is_answered() -> None:
    async def story(lab: Lab) -> None:
        assert not _may_be_sent(await session_of(lab))

    in_lab(story)


def test_stack_with_orphaned_call_is_not_answered() -> None:
    async def story(lab: Lab) -> None:
        session = await session_of(lab)
        [row_id] = session.rows
        session.ports.orphaned_calls.remember(row_id, Ended())
        assert _may_be_sent(session)

    in_lab(story)


def test_stack_with_an_unanswered_change_is_not_answered() -> None:
    async def story(lab: Lab) -> None:
        session = await session_of(lab)
        [row_id] = session.rows
        session.unanswered[row_id] = session.ports.clock.now()
        assert _may_be_sent(session)

    in_lab(story)


def test_stack_with_create_in_flight_is_not_answered() -> None:
    async def story(lab: Lab) -> None:
        session = await session_of(lab)
        [row] = session.rows.values()
        now, landing = session.ports.clock.now(), session.ports.limits.landing
        for sent, expected in ((now - landing / 2, True), (now - landing - 1, False)):
            session.rows[row.id] = replace(row, physical_id=None, asked=(sent,))
            assert _may_be_sent(session) is expected

    in_lab(story)


class Queue(TurnQueue):
    """All turns are due."""

    def __init__(self) -> None:
        self.scheduled: list[str] = []
        self.consumed: list[str] = []

    async def schedule(self, stack_id: str, at: float) -> None:
        self.scheduled.append(stack_id)

    async def consume(self, stack_ids: Sequence[str]) -> Collection[str]:
        self.consumed += stack_ids
        return set(stack_ids)


class Heard:
    """A driver that counts its notifications."""

    news = 0

    def notify(self) -> None:
        self.news += 1


def test_job_consumed_for_ended_driver_is_scheduled_again() -> None:
    async def story(lab: Lab) -> None:
        queue, lives = Queue(), Heard()
        turns = Turns(lab.engine.ports, queue)
        turns._drivers |= {"ends": Heard(), "lives": lives}
        turns.receive([("ends", None), ("lives", None)], known=False)
        del turns._drivers["ends"]
        await asyncio.sleep(2 * GATHERS)
        assert queue.scheduled == ["ends"]
        assert lives.news == 1

    in_lab(story)


def test_engine_with_expired_lease_consumes_no_turns() -> None:
    async def story(lab: Lab) -> None:
        lease, queue = HeartbeatLease(LEASE_S), Queue()
        turns = Turns(replace(lab.engine.ports, lease=lease), queue)
        turns._drivers["late"] = Heard()
        await turns.wake_due()
        assert not queue.consumed
        lease.renew(clock())
        turns._drivers = {"late": Heard()}
        turns.receive([("late", None)], known=True)
        await asyncio.sleep(2 * GATHERS)
        assert queue.consumed == ["late"]

    in_lab(story)
