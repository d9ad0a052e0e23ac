from __future__ import annotations

import asyncio
import threading

import pytest

from stoker.clouds.concurrency import Bounds, ConcurrencyLimit
from stoker.clouds.keystone import kind_of
from stoker.clouds.workers import Workers
from stoker.kernel.clock import SystemClock
from stoker.kernel.time_limit import project


class ManualClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def filled(limit: ConcurrencyLimit) -> int:
    places = 0
    while limit.enter():
        places += 1
    return places


def test_limit_admits_its_number_of_calls(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=3))
    assert filled(limit) == 3
    limit.leave()
    assert limit.enter()


def test_full_limit_doubles_until_first_cut(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=4))
    for _ in range(4):
        filled(limit)
        limit.observe(200, 0.01)
    assert limit.size == 8


def test_limit_after_cut_grows_by_one_per_round(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=8))
    limit.observe(503, 0.01)
    filled(limit)
    for _ in range(4):
        limit.observe(200, 0.01)
    assert 4.8 < limit.size < 5.2


def test_unused_limit_does_not_grow(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=4))
    for _ in range(100):
        limit.observe(200, 0.01)
    assert limit.size == 4


@pytest.mark.parametrize("status", [429, 503])
def test_overload_halves_the_limit_once_per_episode(clock: ManualClock, status: int) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=16))
    for _ in range(5):
        limit.observe(status, 0.01)
    assert limit.size == 8
    clock.time += 2
    limit.observe(status, 0.01)
    assert limit.size == 4


def test_a_limit_never_falls_to_nothing(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=2))
    for _ in range(20):
        clock.time += 2
        limit.observe(503, 0.01)
    assert filled(limit) == 1


def test_requested_pause_is_kept(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=2))
    limit.observe(429, 0.01, retry_after=7)
    assert limit.pause() == 7
    assert not limit.enter()
    clock.time += 7
    assert limit.enter()


def test_rising_latency_of_one_kind_lowers_the_limit(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=16))
    for _ in range(10):
        limit.observe(200, 0.1, kind="POST /ports")
    for _ in range(20):
        limit.observe(200, 3.0, kind="POST /ports")
    assert limit.size == 8


def test_kinds_of_different_speed_keep_the_limit(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=16))
    for _ in range(100):
        clock.time += 1
        limit.observe(200, 0.01, kind="GET /ports")
        limit.observe(201, 1.0, kind="POST /ports")
    assert limit.size == 16


def test_kind_of_varying_speed_keeps_the_limit(
    clock: ManualClock,
) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=16))
    for turn in range(400):
        clock.time += 1
        limit.observe(201, 2.0 if turn % 2 else 0.1, kind="POST /servers")
    assert limit.size == 16


def test_fast_refusals_do_not_count_as_speed(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=16))
    for _ in range(100):
        clock.time += 1
        limit.observe(404, 0.01, kind="DELETE /ports/*")
        limit.observe(204, 1.0, kind="DELETE /ports/*")
    assert limit.size == 16


def test_slowness_lowers_limit_only_for_a_while(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=16))
    limit.observe(200, 0.1, kind="POST /ports")
    sizes = []
    for _ in range(300):
        clock.time += 2
        places = filled(limit)
        limit.observe(200, 5.0, kind="POST /ports")
        for _ in range(places):
            limit.leave()
        sizes.append(limit.size)
    assert min(sizes) == 4
    assert sizes[-1] > 16


def test_conflict_is_overload_only_with_retry_after(clock: ManualClock) -> None:
    limit = ConcurrencyLimit(clock, Bounds(start=16))
    limit.observe(409, 0.01)
    assert limit.size == 16
    limit.observe(409, 0.01, retry_after=2)
    assert (limit.size, limit.pause()) == (8, 2)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("/ports", "POST /ports"),
        ("/ports/0a1b2c3d-0000-4000-8000-000000000000", "POST /ports/*"),
        ("/servers/5f0e/action?x=1", "POST /servers/*/action"),
        ("http://cloud:9696/v2.0/ports", "POST /*/ports"),
    ],
)
def test_call_kind_is_method_and_collection(url: str, kind: str) -> None:
    assert kind_of("POST", url) == kind


async def test_running_calls_never_exceed_the_limit(clock: ManualClock) -> None:
    workers = Workers(clock, bounds=Bounds(start=2, ceiling=2))
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


async def test_failed_call_frees_its_place(
    clock: ManualClock,
) -> None:
    workers = Workers(clock, bounds=Bounds(start=1))

    def fail() -> None:
        raise LookupError("gone")

    for _ in range(3):
        with pytest.raises(LookupError, match="gone"):
            await workers.run("compute", fail)
    assert workers.limit("compute").under_way == 0
    workers.close()


async def test_cancelled_call_frees_its_place_when_it_ends(
    clock: ManualClock,
) -> None:
    workers = Workers(clock, bounds=Bounds(start=1, ceiling=1))
    gate, begun = threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        gate.wait()

    first = asyncio.ensure_future(workers.run("compute", call))
    await asyncio.to_thread(begun.wait)
    first.cancel()
    second = asyncio.ensure_future(workers.run("compute", lambda: 2))
    await asyncio.sleep(0)
    assert workers.limit("compute").under_way == 1
    gate.set()
    assert await second == 2
    assert workers.limit("compute").under_way == 0
    workers.close()


async def test_caller_cancelled_on_admission_passes_place_on(
    clock: ManualClock,
) -> None:
    workers = Workers(clock, bounds=Bounds(start=1, ceiling=1))
    gate = workers._gate("compute")
    await gate.enter()
    second = asyncio.ensure_future(gate.enter())
    third = asyncio.ensure_future(gate.enter())
    await asyncio.sleep(0)
    gate.leave()
    second.cancel()
    await asyncio.wait_for(third, 10)
    gate.leave()
    assert workers.limit("compute").under_way == 0
    workers.close()


async def test_call_that_fails_before_start_frees_place(
    clock: ManualClock,
) -> None:
    workers = Workers(clock, bounds=Bounds(start=1, ceiling=1))

    async def stay() -> None:
        async with workers.admission("compute"):
            await asyncio.Event().wait()

    with pytest.raises(LookupError):
        async with workers.admission("compute"):
            raise LookupError("the store says no")
    waiting = asyncio.ensure_future(stay())
    await asyncio.sleep(0)
    waiting.cancel()
    assert await asyncio.wait_for(workers.run("compute", lambda: 2), 10) == 2
    assert workers.limit("compute").under_way == 0
    workers.close()


async def test_call_without_service_runs_in_its_thread(clock: ManualClock) -> None:
    workers = Workers(clock)
    here = threading.get_ident()
    assert await workers.run(None, threading.get_ident) == here
    assert await workers.run("compute", threading.get_ident) != here
    workers.close()


async def test_caller_cancelled_in_queue_takes_no_place(clock: ManualClock) -> None:
    workers = Workers(clock, bounds=Bounds(start=1, ceiling=1))
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


async def test_caller_cancelled_after_admission_frees_place(
    clock: ManualClock,
) -> None:
    workers = Workers(clock, bounds=Bounds(start=1, ceiling=1))
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


async def test_answers_pass_computations_of_their_project() -> None:
    workers, finish = Workers(SystemClock()), threading.Event()
    token = project.set("busy")
    computing = [asyncio.ensure_future(workers.compute(finish.wait)) for _ in range(9)]
    try:
        assert await asyncio.wait_for(workers.answer(lambda: "list"), 30) == "list"
        assert not any(each.done() for each in computing)
    finally:
        finish.set()
        project.reset(token)
        await asyncio.gather(*computing)
        workers.close()
