"""Steps start as fast as their changes are written, and a few in each turn of the event loop."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from stoker.kernel.time_limit import project
from stoker.store.write.room import MAX_WAITING, STARTS_PER_TURN, Room

SOON = 30  # seconds


class Queue:
    """Changes of projects that wait to be written, and callers that want to enter more."""

    def __init__(self) -> None:
        self.waiting = Counter[str]()
        self.room = Room(self.waiting.__getitem__)

    def ask(self, project_id: str, wanted: int) -> asyncio.Task[int]:
        """Ask for room in a task of the project."""
        project.set(project_id)
        return asyncio.ensure_future(self.room.get(wanted))


@pytest.fixture
def queue() -> Queue:
    return Queue()


async def settled() -> None:
    """Let the tasks run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_caller_gets_what_there_is(queue: Queue) -> None:
    asked = queue.ask("one", 5), queue.ask("one", MAX_WAITING)
    assert await asyncio.gather(*asked) == [5, STARTS_PER_TURN - 5]
    queue.waiting["one"] = MAX_WAITING - 3
    assert await queue.ask("one", MAX_WAITING) == 3


async def test_full_queue_lets_no_caller_start(queue: Queue) -> None:
    queue.waiting["busy"] = MAX_WAITING
    waiting = [queue.ask("busy", 4) for _ in range(2)]
    assert await queue.ask("other", 3) == 3
    await settled()
    queue.room.give()
    await settled()
    assert not any(each.done() for each in waiting)
    queue.waiting["busy"] -= 4
    queue.room.give()
    async with asyncio.timeout(SOON):
        assert await asyncio.gather(*waiting) == [4, 4]


async def test_few_steps_start_in_one_turn(queue: Queue) -> None:
    asked = [queue.ask("one", 1) for _ in range(5 * STARTS_PER_TURN)]
    started = []
    while not all(each.done() for each in asked):
        before = sum(each.done() for each in asked)
        await asyncio.sleep(0)
        started.append(sum(each.done() for each in asked) - before)
    assert max(started) == STARTS_PER_TURN
    assert len([count for count in started if count]) == 5


async def test_projects_start_in_turn(queue: Queue) -> None:
    order: list[str] = []
    queue.waiting.update(large=MAX_WAITING, small=MAX_WAITING)
    asked = [queue.ask("large", 2) for _ in range(9)] + [queue.ask("small", 2)]
    for each, name in zip(asked, ["large"] * 9 + ["small"], strict=True):
        each.add_done_callback(lambda _, name=name: order.append(name))
    await settled()
    queue.waiting.clear()
    queue.room.give()
    await asyncio.gather(*asked)
    await settled()
    assert order.index("small") <= 1


async def test_later_callers_wait_behind_earlier_ones(queue: Queue) -> None:
    queue.waiting["one"] = MAX_WAITING
    earlier = queue.ask("one", 2)
    await settled()
    queue.waiting["one"] = 0
    later = queue.ask("one", 2)
    await settled()
    assert not later.done()
    queue.room.give()
    assert await asyncio.gather(earlier, later) == [2, 2]


async def test_cancelled_callers_take_no_room(queue: Queue) -> None:
    queue.waiting["one"] = MAX_WAITING
    gone, rest = queue.ask("one", 2), queue.ask("one", 2)
    alone = queue.ask("two", 1)
    queue.waiting["two"] = MAX_WAITING
    await settled()
    gone.cancel()
    alone.cancel()
    await settled()
    queue.waiting["one"] = MAX_WAITING - 2
    queue.room.give()
    assert await rest == 2
    queue.waiting.clear()
    assert await queue.ask("two", 1) == 1
