"""Threads for computations and reads, shared fairly between projects.

A project gets few of them at a time, and projects take turns, so that a busy project does not block
others. A thread continues with the next job of its project, and the loop collects finished results
together: a change of threads takes longer than most computations.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from stoker.kernel.errors import lack_of
from stoker.kernel.logs.log import Log
from stoker.kernel.time_limit import limited, project

log = Log(__name__)

Answer = TypeVar("Answer")

THREADS = 8
OF_ONE_PROJECT = 2
# Computing time for one piece of work. The largest stacks that are measured take a tenth.
MAX_SECONDS = 60.0

LONG = 0.1  # seconds after which work counts as long
# Seconds after which a thread lets another run while there is long work. The system chooses the
# next one: with Python's own 5 ms, the loop came last too often behind three threads, for 0.1 s.
GIVE_WAY = 0.001
RETRY_SECONDS = 1.0  # between attempts to start a thread on a machine that is short of them
_USUAL = sys.getswitchinterval()
# Threads with long work: the switch interval is one for all threads of the process.
_LONG: set[int] = set()

_Job = tuple[Callable[[], Any], asyncio.Future[Any]]


class FairThreads:
    """Runs work that needs no other thread; used from one event loop."""

    def __init__(
        self,
        threads: int = THREADS,
        of_one_project: int = OF_ONE_PROJECT,
        name: str = "compute",
    ) -> None:
        self._threads = threads
        self._of_one = of_one_project
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        # By project, as long as it has threads, which take jobs from it, too.
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._running: Counter[str] = Counter()  # threads by project
        self._scarce = False  # whether a project waits for a thread that another one has
        self._started_at: dict[object, float] = {}  # start time of the current job, by thread
        self._is_checking = False
        self._done: deque[Callable[[], None]] = deque()  # callbacks of threads for the loop
        self._is_delivery_scheduled = False  # whether the loop was notified of them

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Run ``call`` when it is the turn of its project; return its result."""
        loop, project_id = asyncio.get_running_loop(), project.get()
        end: asyncio.Future[Answer] = loop.create_future()
        self._waiting.setdefault(project_id, deque()).append((call, end))
        self._admit(loop)
        return await end

    def _admit(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start threads where work waits; the project that got one last comes last."""
        for project_id, jobs in list(self._waiting.items()):
            admitted = 0
            while len(jobs) > admitted and self._running[project_id] < self._of_one:
                if self._running.total() >= self._threads:
                    self._scarce = True
                    return
                admitted += 1
                self._start(loop, project_id, jobs)
            if admitted:
                self._waiting.move_to_end(project_id)
            elif not self._running[project_id]:
                del self._waiting[project_id], self._running[project_id]
        self._scarce = False

    def _start(self, loop: asyncio.AbstractEventLoop, project_id: str, jobs: deque[_Job]) -> None:
        self._running[project_id] += 1
        self._submit(loop, partial(self._work, loop, project_id, jobs))
        if not self._is_checking:
            self._adjust_switching(loop)

    def _submit(self, loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
        """Run work on a thread; while no thread can be started, try again each second."""
        try:
            self._pool.submit(work)
        except RuntimeError as error:
            if lack_of(error) is None:
                raise
            # The executor keeps the work for the first thread that it has.
            log.warning("no thread can be started", reason=str(error))
            loop.call_later(RETRY_SECONDS, self._submit, loop, _nothing)

    def _work(self, loop: asyncio.AbstractEventLoop, project_id: str, jobs: deque[_Job]) -> None:
        """Run the jobs of a project on a thread, until another project waits for it."""
        thread = object()
        # Only threads take from it.
        with contextlib.suppress(IndexError):
            while True:
                call, end = jobs.popleft()
                if not end.done():
                    self._started_at[thread] = time.monotonic()
                    self._schedule_delivery(loop, _outcome(call, end))
                if self._scarce:
                    break
        self._started_at.pop(thread, None)
        self._schedule_delivery(loop, partial(self._ended, loop, project_id))

    def _ended(self, loop: asyncio.AbstractEventLoop, project_id: str) -> None:
        self._running[project_id] -= 1
        self._admit(loop)

    def _schedule_delivery(self, loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
        """Schedule a callback on the event loop."""
        self._done.append(what)
        if not self._is_delivery_scheduled:
            self._is_delivery_scheduled = True
            loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        """Deliver the results of threads."""
        self._is_delivery_scheduled = False
        while self._done:
            self._done.popleft()()

    def _adjust_switching(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let threads give way sooner while there is long work: it costs small work too much."""
        since = time.monotonic() - LONG
        long = any(started_at < since for started_at in list(self._started_at.values()))
        (_LONG.add if long else _LONG.discard)(id(self))
        sys.setswitchinterval(GIVE_WAY if _LONG else _USUAL)
        self._is_checking = self._running.total() > 0
        if self._is_checking:
            loop.call_later(LONG, self._adjust_switching, loop)

    def close(self, *, wait: bool = False) -> None:
        """Start no more work; running work ends on its own, with ``wait`` before the return."""
        self._pool.shutdown(wait=wait, cancel_futures=True)


def _nothing() -> None:
    """Make an executor start a thread."""


def _outcome(call: Callable[[], Answer], end: asyncio.Future[Answer]) -> Callable[[], None]:
    """Run a call; return the function that delivers its result."""
    try:
        with limited(MAX_SECONDS):
            answer = call()
    except StopIteration as error:  # a future takes none
        return partial(_give, end, end.set_exception, RuntimeError(repr(error)))
    except BaseException as error:  # noqa: BLE001 - told to who waits
        return partial(_give, end, end.set_exception, error)
    return partial(_give, end, end.set_result, answer)


def _give(
    end: asyncio.Future[Answer], how: Callable[[Any], None], what: Answer | BaseException
) -> None:
    """Deliver the result, unless the caller is gone."""
    if not end.done():
        how(what)
