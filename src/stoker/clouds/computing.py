"""Threads for long computations, shared fairly between projects.

A project gets few of them at once, and projects take turns: whoever asks for much waits for
himself, not others for him.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from stoker.kernel.time_limit import limited, project

Answer = TypeVar("Answer")

THREADS = 8
OF_ONE_PROJECT = 2
MAX_SECONDS = 60.0
"""Of computing that one piece of work may take. The largest stacks that are measured take a
tenth."""

LONG = 0.1
"""Seconds after which work counts as long."""
GIVE_WAY = 0.001
"""Seconds after which a thread lets another run while there is long work. Which one is up to the
system: with Python's own 5 ms, the loop came last too often behind three threads, for 0.1 s."""
_USUAL = sys.getswitchinterval()

_Job = tuple[Callable[[], Any], asyncio.Future[Any]]


class Computing:
    """Runs pure work; used from one event loop."""

    def __init__(self, threads: int = THREADS, of_one_project: int = OF_ONE_PROJECT) -> None:
        self._threads = threads
        self._of_one = of_one_project
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="compute")
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._begun: dict[asyncio.Future[Any], float] = {}
        self._looking = False

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """What ``call`` returns or raises, when it is the turn of the project at work."""
        project_id = project.get()
        end: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(project_id, deque()).append((call, end))
        self._admit()
        return await end

    def _admit(self) -> None:
        """Start what may start; the project that has been served last comes last."""
        for project_id in list(self._waiting):
            if self._running.total() >= self._threads:
                return
            jobs = self._waiting[project_id]
            while jobs and self._running[project_id] < self._of_one:
                if self._running.total() >= self._threads:
                    break
                call, end = jobs.popleft()
                if not end.done():
                    self._start(project_id, call, end)
            if jobs:
                self._waiting.move_to_end(project_id)
            else:
                del self._waiting[project_id]

    def _start(self, project_id: str, call: Callable[[], Any], end: asyncio.Future[Any]) -> None:
        self._running[project_id] += 1
        work = asyncio.get_running_loop().run_in_executor(self._pool, _limited, call)
        self._begun[work] = time.monotonic()
        if not self._looking:
            self._look()

        def finished(done: asyncio.Future[Any]) -> None:
            del self._begun[work]
            self._running[project_id] -= 1
            if not self._running[project_id]:
                del self._running[project_id]
            _hand_over(done, end)
            self._admit()

        work.add_done_callback(finished)

    def _look(self) -> None:
        """Let threads give way sooner while there is long work: it costs small work too much."""
        since = time.monotonic() - LONG
        long = any(begun < since for begun in self._begun.values())
        sys.setswitchinterval(GIVE_WAY if long else _USUAL)
        self._looking = bool(self._begun)
        if self._looking:
            asyncio.get_running_loop().call_later(LONG, self._look)

    def close(self) -> None:
        """Start nothing more; what is under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _limited(call: Callable[[], Answer]) -> Answer:
    with limited(MAX_SECONDS):
        return call()


def _hand_over(done: asyncio.Future[Any], end: asyncio.Future[Any]) -> None:
    """Give the result to who waits, if somebody still does."""
    if done.cancelled():
        end.cancel()
        return
    error = done.exception()
    if end.done():
        return
    if error is None:
        end.set_result(done.result())
    else:
        end.set_exception(error)
