"""The service measures how long its event loop keeps everybody waiting."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from stoker.observability.event_loop_monitor import EventLoopMonitor


def work_that_takes_long(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


async def test_pause_is_counted_and_logged_with_its_code(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pauses = EventLoopMonitor()
    pauses.start()
    try:
        await asyncio.sleep(0.05)
        assert pauses.report()["longest_pause"] < 0.2
        with caplog.at_level(logging.INFO):  # others may keep the cores busy
            work_that_takes_long(0.25)
            await asyncio.sleep(0.05)
    finally:
        pauses.close()
    report = pauses.report()
    assert report["longest_pause"] >= 0.2
    assert report["pauses_over_50_ms"] >= 1
    longest = max(report["latest_pauses"], key=lambda pause: float(pause["seconds"]))
    assert longest["cpu_seconds"] >= 0.2
    assert "work_that_takes_long" in caplog.text
