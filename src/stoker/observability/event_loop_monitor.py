"""Measures how long the event loop is blocked, and logs the code that ran meanwhile.

A late timer of the loop shows how long the loop was busy; a thread reads the stack of the loop as
soon as the timer is overdue. Independent of stacks and requests.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from types import FrameType
from typing import Any

from msgspec import Struct

from stoker.kernel.logs.log import Log

LONG = 0.05  # pauses of at least this many seconds are logged
_TICK = 0.02
_CHECK_SECONDS = 0.03
_REMEMBERED = 20
_FRAMES = 6

log = Log(__name__)


class Pause(Struct, frozen=True):
    """A time in which the loop did not turn."""

    ended_at: float  # seconds since the epoch
    seconds: float
    # CPU time of this process in the pause: much less than the pause on a busy machine.
    cpu_seconds: float
    running: str  # stack of the loop, innermost first; empty if the pause was too short to be seen


class EventLoopMonitor:
    """The pauses of one event loop."""

    def __init__(self) -> None:
        self._longest = 0.0
        self._lag = 0.0  # mean lag of the timer over about the last second
        self._count = 0
        self._latest: deque[Pause] = deque(maxlen=_REMEMBERED)
        self._due = 0.0
        self._computed = 0.0
        self._seen = ""
        self._timer: asyncio.TimerHandle | None = None
        self._over = threading.Event()
        self._loop_thread = 0

    def start(self) -> None:
        """Start to measure the running loop."""
        self._loop_thread = threading.get_ident()
        self._schedule(asyncio.get_running_loop())
        threading.Thread(target=self._watch, name="pauses", daemon=True).start()

    def close(self) -> None:
        """Stop measuring."""
        self._over.set()
        if self._timer is not None:
            self._timer.cancel()

    def report(self) -> dict[str, Any]:
        """The figures for operators."""
        return {
            "lag": round(self._lag, 5),
            "longest_pause": round(self._longest, 4),
            "pauses_over_50_ms": self._count,
            "latest_pauses": [
                {
                    "ended_at": round(pause.ended_at, 3),
                    "seconds": round(pause.seconds, 4),
                    "cpu_seconds": round(pause.cpu_seconds, 4),
                }
                for pause in self._latest
            ],
        }

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        self._computed = time.process_time()
        self._due = time.monotonic() + _TICK
        self._timer = loop.call_later(_TICK, self._tick, loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        late = time.monotonic() - self._due
        self._longest = max(self._longest, late)
        self._lag += (late - self._lag) * _TICK
        if late > LONG:
            self._note(late)
        self._schedule(loop)

    def _note(self, seconds: float) -> None:
        seen, self._seen = self._seen, ""
        pause = Pause(time.time(), seconds, time.process_time() - self._computed, seen)
        self._count += 1
        self._latest.append(pause)
        report = log.warning if pause.cpu_seconds > seconds / 2 else log.info
        report(  # others kept the cores busy where this process has hardly computed
            "the event loop has paused",
            seconds=f"{seconds:.3f}",
            cpu_seconds=f"{pause.cpu_seconds:.3f}",
            running=seen or "unknown",
        )

    def _watch(self) -> None:
        checked_due = 0.0
        while not self._over.wait(_CHECK_SECONDS):
            due = self._due
            if due != checked_due and time.monotonic() - due > LONG:
                checked_due = due
                self._seen = _place(sys._current_frames().get(self._loop_thread))  # noqa: SLF001 - no other way


def _place(frame: FrameType | None) -> str:
    """Return the frames of a thread, innermost first."""
    places: list[str] = []
    while frame is not None and len(places) < _FRAMES:
        code = frame.f_code
        name = "/".join(code.co_filename.split("/")[-2:])
        places.append(f"{name}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return " < ".join(places)
