"""The connection between engines and the cloud: requests take time, and outlive their senders.

The cloud executes a request when it arrives, which may be after the death of its engine: then, as
with real services, it is done late, or never, and without an answer.
"""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable
from typing import Any

from stoker.engine.model.interfaces import Lease
from tests.simulation.cloud import Cloud, LostError
from tests.simulation.threads import CallThread, Returned, Sent, send

# Seconds after which an engine stops waiting for an answer, and the request has no effect any more.
REQUEST_TIMEOUT = 60.0


_READING = frozenset({"content_of", "find", "get", "is_tied", "login"})


class Connection:
    """The cloud as resource types see it: each method is a request. Its contents are public.

    An engine must be allowed to change an object when it sends the request for that.
    """

    def __init__(self, cloud: Cloud, lease: Lease) -> None:
        self._cloud = cloud
        self._lease = lease

    def service(self, service_type: str) -> Any:
        return getattr(self._cloud, service_type)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._cloud, name)
        if not callable(method):
            return method

        def request(*args: Any, takes: float = 0.0) -> Any:
            if name not in _READING:
                self._lease.require()
            return send(functools.partial(method, *args), takes)

        return request


class _Flight:
    """A call, and the request that it waits for."""

    def __init__(self, thread: CallThread, loop: asyncio.AbstractEventLoop) -> None:
        self.thread = thread
        self.loop = loop
        self.ended: asyncio.Future[Any] = loop.create_future()
        self.act: Callable[[], Any] | None = None  # pending effect in the cloud
        self.sent = 0.0  # time of the request


class Wire:
    """All requests under way."""

    def __init__(self, seed: random.Random, cloud: Cloud, time: Callable[[], float]) -> None:
        self._seed = seed
        self._cloud = cloud
        self._time = time
        self._flights: dict[_Flight, None] = {}
        # Requests of dead engines that will still be done: time and effect.
        self._late: dict[_Flight, tuple[float, Callable[[], Any]]] = {}
        self._loops: set[asyncio.AbstractEventLoop] = set()  # requests of live engines
        self._users: asyncio.AbstractEventLoop | None = None
        self.cuts = 0  # requests in flight when an engine died

    def under_way(self) -> asyncio.AbstractEventLoop | None:
        """The loop of an engine that has sent a request which is not done yet."""
        return next((flight.loop for flight in self._flights if flight.act is not None), None)

    @property
    def rest(self) -> float:
        """Seconds until the cloud has done all that was asked of it."""
        return max((due - self._time() for due, _ in self._late.values()), default=0.0) + 1

    async def call(self, call: Callable[[], Any]) -> Any:
        """Return or raise the result of the call. It continues when the caller is cancelled."""
        loop = asyncio.get_running_loop()
        flight = _Flight(CallThread(call), loop)
        self._flights[flight] = None
        loop.call_later(self._seed.uniform(0, 0.02), self._start, flight)
        return await asyncio.shield(flight.ended)

    def _start(self, flight: _Flight) -> None:
        self._go_on(flight, flight.thread.start())

    def _go_on(self, flight: _Flight, told: Sent | Returned) -> None:
        if isinstance(told, Returned):
            self._flights.pop(flight, None)
            if flight.ended.cancelled():
                return
            if told.error is None:
                flight.ended.set_result(told.value)
            else:
                flight.ended.set_exception(told.error)
                flight.ended.exception()  # seen, even where the caller has gone away
            return
        if flight.loop not in self._loops:
            # who was frozen for so long has lost its connections
            flight.loop.call_soon(self._answer, flight, None, LostError("connection reset"))
            return
        flight.act, flight.sent = told.act, self._time()
        # a slow request is done early or late; its answer comes at the end
        done = self._seed.uniform(0.01, 0.3) + told.takes * self._seed.choice((0, 0.5, 1))
        answered = max(done, told.takes) + self._seed.uniform(0, 0.1)
        flight.loop.call_later(done, self._arrive, flight, answered - done)

    def _arrive(self, flight: _Flight, rest: float) -> None:
        if flight.act is None:
            return
        act, flight.act = flight.act, None
        value, error = self._done(act)
        flight.loop.call_later(rest, self._answer, flight, value, error)

    def _done(self, act: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        self._cloud.now = self._time()
        try:
            return act(), None
        except Exception as error:  # noqa: BLE001 - the answer of the cloud
            return None, error

    def _answer(self, flight: _Flight, value: Any, error: BaseException | None) -> None:
        if flight in self._flights:
            self._go_on(flight, flight.thread.answer(value, error))

    def cut(self, fate: str, loop: asyncio.AbstractEventLoop) -> list[_Flight]:
        """Decide the fate of the requests of an engine that dies or freezes. Return its calls."""
        self._loops.discard(loop)
        flights = [flight for flight in self._flights if flight.loop is loop]
        for flight in flights:
            del self._flights[flight]
            how = self._seed.choice(("soon", "late", "never")) if fate == "any" else fate
            self.cuts += flight.act is not None
            if flight.act is not None and how != "never":
                delay = {"soon": 1.0, "late": REQUEST_TIMEOUT - 1}[how] * self._seed.random()
                due = min(self._time() + delay, flight.sent + REQUEST_TIMEOUT - 1)
                self._late[flight] = (due, flight.act)
                if self._users is not None and self._users is not loop:
                    self._schedule(flight, self._users)
            flight.act = None
        return flights

    def deliver(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have this loop execute the requests of dead engines in time."""
        self._users = loop
        for flight in self._late:
            self._schedule(flight, loop)

    def join(self, loop: asyncio.AbstractEventLoop) -> None:
        """An engine lives on this loop."""
        self._loops.add(loop)

    def _schedule(self, flight: _Flight, loop: asyncio.AbstractEventLoop) -> None:
        due, act = self._late[flight]
        loop.call_later(max(due - self._time(), 0), self._do_late, flight, act)

    def _do_late(self, flight: _Flight, act: Callable[[], Any]) -> None:
        if self._late.pop(flight, None) is not None:
            self._cloud.late = True
            self._done(act)
            self._cloud.late = False

    def fail(self, flights: list[_Flight], loop: asyncio.AbstractEventLoop) -> None:
        """An engine has come back that was frozen: its connections are gone."""
        for flight in flights:
            self._flights[flight] = None
            if flight.thread.waits:
                loop.call_soon(self._answer, flight, None, LostError("connection reset"))

    @staticmethod
    def bury(flights: list[_Flight]) -> None:
        """The process of these calls is no more."""
        for flight in flights:
            flight.thread.kill()
