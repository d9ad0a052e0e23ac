"""Pauses: a change between a read and the following pause is not missed."""

from __future__ import annotations

import asyncio

import pytest

from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.schema.resource_type import Wait

LONG = Wait(after=3600, on_signal=True)
POLL = Wait(after=3600)


async def over(pause: asyncio.Task[None]) -> bool:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return pause.done()


async def test_signal_ends_pause_for_signals_only() -> None:
    waiting = Waiting()
    for_signal = asyncio.ensure_future(waiting.wait(LONG, waiting.round))
    for_time = asyncio.ensure_future(waiting.wait(POLL, waiting.round))
    assert not await over(for_signal)
    waiting.wake()
    assert await over(for_signal)
    assert not await over(for_time)
    for_time.cancel()


async def test_signal_between_read_and_pause_is_noticed() -> None:
    waiting = Waiting()
    seen = waiting.round
    waiting.wake()
    async with asyncio.timeout(1):
        await waiting.wait(LONG, seen)


async def test_stop_ends_pauses_and_prevents_new_ones() -> None:
    waiting = Waiting()
    pauses = [asyncio.ensure_future(waiting.wait(wait, waiting.round)) for wait in (LONG, POLL)]
    await asyncio.sleep(0)
    waiting.stop()
    for pause in pauses:
        with pytest.raises(StoppedError):
            await pause
    with pytest.raises(StoppedError):
        await waiting.wait(POLL, waiting.round)


async def test_failure_ends_signal_pause_immediately_others_after_grace() -> None:
    waiting = Waiting()
    for_signal = asyncio.ensure_future(waiting.wait(LONG, waiting.round))
    for_time = asyncio.ensure_future(waiting.wait(POLL, waiting.round))
    await asyncio.sleep(0)
    waiting.fail("why", 0.02)
    with pytest.raises(StoppedError):
        await for_signal
    assert not for_time.done()
    with pytest.raises(StoppedError):
        await for_time
    assert waiting.failed == "why"


async def test_wake_all_between_read_and_pause_is_noticed() -> None:
    waiting = Waiting()
    seen = waiting.round_of("nested")
    waiting.wake_all()
    async with asyncio.timeout(1):
        await waiting.wait(LONG, seen, "nested")
