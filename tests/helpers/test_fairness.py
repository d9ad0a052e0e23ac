"""Computing threads are shared: a project with much work waits for its own."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest

from stoker.concurrency.fair_threads import GIVE_WAY, LONG, FairThreads
from stoker.kernel.time_limit import project


async def asked(computing: FairThreads, who: str, call: Any) -> Any:
    project.set(who)
    return await computing.run(call)


async def test_work_of_one_project_leaves_threads_to_others() -> None:
    computing = FairThreads(threads=3, of_one_project=2)
    held = threading.Event()
    greedy = [asyncio.create_task(asked(computing, "a", held.wait)) for _ in range(20)]
    try:
        await asyncio.sleep(0)
        answer = await asyncio.wait_for(asked(computing, "b", lambda: "done"), 10)
        assert answer == "done"
        assert not any(task.done() for task in greedy)
    finally:
        held.set()
    assert await asyncio.gather(*greedy) == [True] * 20
    computing.close()


async def test_projects_take_turns() -> None:
    computing = FairThreads(threads=1, of_one_project=1)
    held, order = threading.Event(), []
    first = asyncio.create_task(asked(computing, "a", held.wait))
    await asyncio.sleep(0)
    tasks = [
        asyncio.create_task(asked(computing, who, lambda who=who: order.append(who)))
        for who in "aaaabc"
    ]
    await asyncio.sleep(0)
    held.set()
    await asyncio.gather(first, *tasks)
    assert order.index("b") < 3
    assert order.index("c") < 3
    computing.close()


async def test_who_gives_up_waiting_takes_no_turn() -> None:
    computing = FairThreads(threads=1, of_one_project=1)
    held, done = threading.Event(), []
    first = asyncio.create_task(asked(computing, "a", held.wait))
    await asyncio.sleep(0)
    gone = asyncio.create_task(asked(computing, "a", lambda: done.append("gone")))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    held.set()
    await first
    assert await asked(computing, "a", lambda: "next") == "next"
    assert done == []
    computing.close()


async def test_completed_work_does_not_wait_for_next_work() -> None:
    computing = FairThreads(threads=1, of_one_project=1)
    held = threading.Event()
    short = asyncio.create_task(asked(computing, "a", lambda: "done"))
    long = asyncio.create_task(asked(computing, "a", held.wait))
    try:
        assert await asyncio.wait_for(short, 10) == "done"
        assert not long.done()
    finally:
        held.set()
    assert await long is True
    computing.close()


async def test_exception_reaches_its_caller_only() -> None:
    computing = FairThreads(threads=1, of_one_project=1)
    calls = [lambda: 1 / 0, lambda: next(iter(())), lambda: "done"]
    found = await asyncio.wait_for(
        asyncio.gather(*(asked(computing, "a", call) for call in calls), return_exceptions=True),
        10,
    )
    assert [type(each) for each in found] == [ZeroDivisionError, RuntimeError, str]
    assert "StopIteration" in str(found[1])
    computing.close()


async def test_small_work_of_project_runs_on_few_threads() -> None:
    computing = FairThreads(threads=8, of_one_project=2)
    at_once, most = [0], [0]

    def small() -> int:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        at_once[0] -= 1
        return threading.get_ident()

    threads = await asyncio.gather(*(asked(computing, "a", small) for _ in range(5000)))
    assert len(threads) == 5000
    assert len(set(threads)) <= 8
    assert most[0] <= 2
    computing.close()


async def test_switch_interval_is_short_during_long_work_only() -> None:
    computing, usual = FairThreads(), sys.getswitchinterval()
    held = threading.Event()
    short = await asked(computing, "a", sys.getswitchinterval)
    long = asyncio.create_task(asked(computing, "a", held.wait))
    await asyncio.sleep(3 * LONG)
    meanwhile = sys.getswitchinterval()
    held.set()
    await long
    await asyncio.sleep(3 * LONG)
    assert [short, meanwhile, sys.getswitchinterval()] == pytest.approx([usual, GIVE_WAY, usual])
    computing.close()
