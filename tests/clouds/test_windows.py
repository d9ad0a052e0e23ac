from __future__ import annotations

import asyncio
import threading

import pytest

from stoker.clouds.windows import Limits, Window
from stoker.clouds.workers import Workers


class ManualClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def filled(window: Window) -> int:
    places = 0
    while window.enter():
        places += 1
    return places


def test_a_window_admits_as_many_calls_as_its_size(clock: ManualClock) -> None:
    window = Window(clock, Limits(start=3))
    assert filled(window) == 3
    window.leave()
    assert window.enter()


def test_a_full_window_that_is_answered_well_grows_by_one_per_round(clock: ManualClock) -> None:
    window = Window(clock, Limits(start=4))
    filled(window)
    for _ in range(4):
        window.observe(200, 0.01)
    assert 4.8 < window.size < 5.2


def test_a_window_that_is_not_used_does_not_grow(clock: ManualClock) -> None:
    window = Window(clock, Limits(start=4))
    for _ in range(100):
        window.observe(200, 0.01)
    assert window.size == 4


@pytest.mark.parametrize("status", [409, 429, 503])
def test_overload_halves_the_window_once_per_episode(clock: ManualClock, status: int) -> None:
    window = Window(clock, Limits(start=16))
    for _ in range(5):
        window.observe(status, 0.01)
    assert window.size == 8
    clock.time += 2
    window.observe(status, 0.01)
    assert window.size == 4


def test_a_window_never_closes_for_good(clock: ManualClock) -> None:
    window = Window(clock, Limits(start=2))
    for _ in range(20):
        clock.time += 2
        window.observe(503, 0.01)
    assert filled(window) == 1


def test_the_pause_that_a_service_asks_for_is_kept(clock: ManualClock) -> None:
    window = Window(clock, Limits(start=2))
    window.observe(429, 0.01, retry_after=7)
    assert window.pause() == 7
    assert not window.enter()
    clock.time += 7
    assert window.enter()


def test_rising_latency_shrinks_the_window(clock: ManualClock) -> None:
    window = Window(clock, Limits(start=16))
    for _ in range(10):
        window.observe(200, 0.1)
    for _ in range(20):
        window.observe(200, 3.0)
    assert window.size == 8


async def test_no_more_calls_run_at_once_than_the_window_admits(clock: ManualClock) -> None:
    workers = Workers(clock, limits=Limits(start=2, ceiling=2))
    lock, running, most = threading.Lock(), 0, 0
    gate = threading.Event()

    def call() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        gate.wait(0.01)
        with lock:
            running -= 1

    await asyncio.gather(*(workers.run("compute", call) for _ in range(10)))
    assert most == 2
    workers.close()


async def test_what_a_call_raises_reaches_the_caller_and_frees_its_place(
    clock: ManualClock,
) -> None:
    workers = Workers(clock, limits=Limits(start=1))

    def fail() -> None:
        raise LookupError("gone")

    for _ in range(3):
        with pytest.raises(LookupError, match="gone"):
            await workers.run("compute", fail)
    assert workers.window("compute").under_way == 0
    workers.close()


async def test_a_call_without_a_service_runs_where_it_is(clock: ManualClock) -> None:
    workers = Workers(clock)
    here = threading.get_ident()
    assert await workers.run(None, threading.get_ident) == here
    assert await workers.run("compute", threading.get_ident) != here
    workers.close()


async def test_a_caller_that_gives_up_in_the_queue_takes_no_place(clock: ManualClock) -> None:
    workers = Workers(clock, limits=Limits(start=1, ceiling=1))
    gate = threading.Event()
    first = asyncio.ensure_future(workers.run("compute", gate.wait))
    second = asyncio.ensure_future(workers.run("compute", lambda: 2))
    third = asyncio.ensure_future(workers.run("compute", lambda: 3))
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    assert await third == 3
    assert await first
    workers.close()


async def test_a_caller_that_gives_up_when_its_turn_has_come_gives_its_place_back(
    clock: ManualClock,
) -> None:
    workers = Workers(clock, limits=Limits(start=1, ceiling=1))
    gate = threading.Event()
    first = asyncio.ensure_future(workers.run("compute", gate.wait))
    second = asyncio.ensure_future(workers.run("compute", lambda: 2))
    await asyncio.sleep(0)
    gate.set()
    assert await first
    # the place has been given to the second, which has not run since
    second.cancel()
    async with asyncio.timeout(5):
        assert await workers.run("compute", lambda: 3) == 3
    workers.close()
