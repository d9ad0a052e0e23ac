"""Runs blocking cloud calls on threads, within the limit of each service.

A service and a blocking function go in, its result comes out. A call first waits on the event loop
for a place within the limit of its service, and uses a thread only once it can start. A caller that
has to do something between the two, such as a commit, uses :meth:`Workers.admission`. Tested by
tests/clouds/test_concurrency.py.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from stoker.clouds.concurrency import Bounds, ConcurrencyLimit
from stoker.concurrency.fair_threads import FairThreads
from stoker.kernel.clock import Clock
from stoker.kernel.errors import machine_errors
from stoker.kernel.load import Load

Answer = TypeVar("Answer")

ANSWER_THREADS = 4  # a project gets two


class _Throttle:
    """The limit of a service with its queue of waiting calls, first in, first out."""

    def __init__(self, limit: ConcurrencyLimit) -> None:
        self.limit = limit
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """Return the number of waiting calls."""
        return len(self._waiting)

    async def enter(self) -> None:
        if not self._waiting and self.limit.enter():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._wake_after_pause()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        self.limit.leave()
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            if self._waiting[0].done():
                self._waiting.popleft()
            elif self.limit.enter():
                self._waiting.popleft().set_result(None)
            else:
                self._wake_after_pause()
                return

    def _wake_after_pause(self) -> None:
        pause = self.limit.pause()
        if pause > 0 and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(pause + 0.01, self._resume)

    def _resume(self) -> None:
        self._timer = None
        self._admit()


class Admission:
    """Waits for a place within the limit of a service, and holds it for one call.

    The place is released when the call has ended; if none was started, at the end of the context.
    """

    def __init__(self, throttle: _Throttle, pool: ThreadPoolExecutor) -> None:
        self._throttle = throttle
        self._pool = pool
        self._holds_place = False

    async def __aenter__(self) -> Callable[[Callable[[], Any]], Awaitable[Any]]:
        await self._throttle.enter()
        self._holds_place = True
        return self.run

    async def __aexit__(self, *exception: object) -> None:
        if self._holds_place:
            self._throttle.leave()

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Run ``call`` on a thread; return its result. Raises MachineError."""
        with machine_errors():
            # The thread gets the context of the request.
            work = asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, call)
            self._holds_place = False
            work.add_done_callback(self._finished)
            # A caller that is cancelled does not stop the call: the place is used until it ends.
            return await asyncio.shield(work)

    def _finished(self, done: asyncio.Future[Any]) -> None:
        self._throttle.leave()
        if not done.cancelled():
            done.exception()  # read, even if the caller is gone: asyncio logs unread exceptions


class Workers:
    """Runs blocking calls on threads, within the limit of each service."""

    def __init__(self, clock: Clock, threads: int = 64, bounds: Bounds | None = None) -> None:
        self._clock = clock
        self._bounds = bounds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cloud")
        self._computing = FairThreads()
        self._answers = FairThreads(ANSWER_THREADS, name="answer")
        self._gates: dict[str, _Throttle] = {}
        self._among = 1

    def load(self, service: str) -> Load:
        """Return the load of a service."""
        gate = self._gate(service)
        return Load(int(gate.limit.size), gate.waiting, gate.limit.pause())

    def loads(self) -> dict[str, Load]:
        """Return the load of each service that was ever called."""
        return {service: self.load(service) for service in list(self._gates)}

    def limit(self, service: str) -> ConcurrencyLimit:
        """Return the limit of a service; create it at the first request."""
        return self._gate(service).limit

    def share(self, among: int) -> None:
        """Share the limits with other processes, ``among`` in all."""
        self._among = among
        for gate in list(self._gates.values()):
            gate.limit.share(among)

    def observe(
        self,
        service: str,
        status: int,
        seconds: float,
        retry_after: float | None,
        kind: str = "",
    ) -> None:
        """Report a response to the limit of the service. Thread-safe."""
        self._gate(service).limit.observe(status, seconds, retry_after, kind)

    async def run(self, service: str | None, call: Callable[[], Answer]) -> Answer:
        """Run ``call`` on a thread when the limit allows it; return its result.

        Without a service the call does not block, and is run where it is. Raises
        :class:`stoker.kernel.errors.MachineError`.
        """
        if service is None:
            with machine_errors():
                return call()
        admission = self.admission(service)
        async with admission:
            return await admission.run(call)

    def admission(self, service: str) -> Admission:
        """Wait until the limit of the service allows a call. The context returns its runner."""
        return Admission(self._gate(service), self._pool)

    async def compute(self, call: Callable[[], Answer]) -> Answer:
        """Run ``call`` on a thread for computations; return its result."""
        with machine_errors():
            return await self._computing.run(call)

    async def answer(self, call: Callable[[], Answer]) -> Answer:
        """Run ``call`` on a thread for requests and responses of the APIs; return its result.

        It does not wait for computations of the same project.
        """
        with machine_errors():
            return await self._answers.run(call)

    def close(self) -> None:
        """Start no more calls; running ones end on their own."""
        self._computing.close()
        self._answers.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _gate(self, service: str) -> _Throttle:
        gate = self._gates.get(service)
        if gate is None:
            gate = self._gates.setdefault(
                service, _Throttle(ConcurrencyLimit(self._clock, self._bounds))
            )
            gate.limit.share(self._among)
        return gate
