"""Computing threads are shared: whoever asks for much waits for himself."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest

from stoker.clouds.computing import GIVE_WAY, LONG, Computing
from stoker.kernel.time_limit import project


async def asked(computing: Computing, who: str, call: Any) -> Any:
    project.set(who)
    return await computing.run(call)


async def test_work_of_one_project_leaves_threads_to_others() -> None:
    computing = Computing(threads=3, of_one_project=2)
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
    computing = Computing(threads=1, of_one_project=1)
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
    computing = Computing(threads=1, of_one_project=1)
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


async def test_threads_give_way_sooner_while_there_is_long_work_and_only_then() -> None:
    computing, usual = Computing(), sys.getswitchinterval()
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
