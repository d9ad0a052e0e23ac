"""A cloud whose calls take long and complete even if their process has died.

Time is virtual. A process is a loop; it dies when its loop is left. The requests that it has sent
are carried out in the next loop, and their responses are lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import random
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stoker.engine.model.clouds import RunCall
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.limits import Limits
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import StackRequest
from stoker.kernel.ids import RandomIds
from stoker.kernel.load import Load
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, ResourceType
from stoker.store.store import SqlStore
from tests.simulation.disk import Disk
from tests.simulation.loop import VirtualLoop
from tests.simulation.world import CALLER, Clouds, EngineLife, Nobody, Plain, empty_database

Result = TypeVar("Result")
START = 1_800_000_000.0
_graveyard: list[object] = []


class LostError(Exception):
    """The answer did not come."""


class RefusalError(Exception):
    """The cloud has done nothing."""


class Late:
    """The cloud."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[str, Any]] = {}  # token and value by id
        self.made: list[str] = []  # tokens in the order of creation
        self.usual = 0.1  # seconds that a call takes
        # Seconds that each of the next creates takes, before the usual.
        self.takes: list[float] = []
        self.never: int = 0  # number of creates from now on that are never carried out nor answered
        self.refuses = 0  # number of creates from now on that are refused
        self.gives_up = 60.0  # seconds until a caller stops waiting
        self._numbers = itertools.count(1)

    def seconds(self, method: str) -> float:
        return self.takes.pop(0) if method == "create" and self.takes else self.usual

    def create(self, token: str, value: Any) -> str:
        if self.refuses > 0:
            self.refuses -= 1
            raise RefusalError("not now")
        object_id = f"object-{next(self._numbers)}"
        self.objects[object_id] = (token, value)
        self.made.append(token)
        return object_id


class Thing(ManagedType):
    """An object of the cloud."""

    type_name = "Late::Thing"
    service = "late"
    properties = {"value": Property(Type.STRING, update_allowed=True)}

    def create(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            return Done()
        return Done(call.cloud.create(call.token, call.properties["value"]))

    def update(self, call: Call) -> Outcome:
        call.cloud.objects[call.physical_id] = (call.token, call.properties["value"])
        return Done()

    def delete(self, call: Call) -> Outcome:
        call.cloud.objects.pop(call.physical_id, None)
        return Done()

    def find(self, call: Call) -> str | None:
        return next(iter(self._with_token(call)), None)

    def sweep(self, call: Call) -> Sequence[str]:
        surplus = [found for found in self._with_token(call) if found != call.physical_id]
        for found in surplus:
            del call.cloud.objects[found]
        return surplus

    def _with_token(self, call: Call) -> list[str]:
        return [key for key, (token, _) in call.cloud.objects.items() if token == call.token]


class Only(Thing):
    """An object that the cloud creates once only."""

    type_name = "Late::Only"
    unique = True

    def create(self, call: Call) -> Outcome:
        return Done(self.find(call) or call.cloud.create(call.token, call.properties["value"]))


TYPES: Mapping[str, ResourceType] = {kind.type_name: kind for kind in (Thing(), Only())}


class Types:
    def find(self, type_name: str) -> ResourceType | None:
        return TYPES.get(type_name)

    def names(self) -> list[str]:
        return sorted(TYPES)


class Faults:
    def is_not_found(self, error: Exception) -> bool:
        return False

    def lands_within(self, error: Exception) -> float:
        return 60.0 if isinstance(error, LostError) else 0.0

    def retry_after(self, error: Exception, attempt: int) -> float | None:
        return 0.5 if isinstance(error, LostError) else None

    def describe(self, error: Exception) -> str:
        return repr(error)


@dataclass(order=True)
class _Landing:
    at: float
    number: int
    act: Callable[[], None] = field(compare=False)


class World(Clouds):
    """The state that outlives a process."""

    def __init__(self, places: int = 100) -> None:
        self.cloud = Late()
        self.passed = 0.0
        self.places = places
        self.database = empty_database()
        self.cloud_since = 0.0
        self._loop: VirtualLoop | None = None
        self._landing: list[_Landing] = []
        self._numbers = itertools.count()

    # -- what the engine uses

    def now(self) -> float:
        return START + (self._loop.now if self._loop is not None else self.passed)

    def connection(self, stack: Stack) -> Late:
        _here.thread.stand()
        return self.cloud

    def send(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something when the time has come, in whatever process."""
        landing = _Landing(self.now() + seconds, next(self._numbers), act)
        heapq.heappush(self._landing, landing)

    async def _land(self) -> None:
        while True:
            while self._landing and self._landing[0].at <= self.now():
                heapq.heappop(self._landing).act()
            await asyncio.sleep(0.05)

    # -- lives

    def live(self, life: Callable[[Life], Awaitable[Result]]) -> Result:
        """One process, from its start until ``life`` ends, which is when it is killed."""
        loop = VirtualLoop(random.Random(1), self.passed)
        asyncio.set_event_loop(loop)
        self._loop = loop

        async def main() -> Result:
            landing = asyncio.ensure_future(self._land())
            _graveyard.append(landing)
            engine = Life(self)
            await engine.engine.dispatch.recover()
            return await life(engine)

        running = loop.create_task(main())
        result = loop.run_until_complete(running)
        self.passed = loop.now
        _graveyard.append((loop, running, asyncio.all_tasks(loop)))
        return result


class _Workers:
    def __init__(self, world: World) -> None:
        self._world = world
        self._places = asyncio.Semaphore(world.places)

    def load(self, service: str) -> Load:
        return Load(1)

    @contextlib.asynccontextmanager
    async def admission(self, service: str) -> AsyncIterator[RunCall]:
        async with self._places:
            yield self._create

    async def run(self, service: str | None, call: Callable[[], Result]) -> Result:
        if service in (None, "catalog"):
            return call()
        async with self._places:
            return await self._send(call, self._world.cloud.seconds(""), lost=False)

    async def _create(self, call: Callable[[], Result]) -> Result:
        """Send a create: the engine asks for the admission of creates only."""
        cloud = self._world.cloud
        seconds, lost = cloud.seconds("create"), cloud.never > 0
        cloud.never -= lost
        return await self._send(call, seconds, lost=lost)

    async def _send(self, call: Callable[[], Result], seconds: float, *, lost: bool) -> Result:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        thread = _Thread(call)
        if not lost:
            self._world.send(seconds, lambda: _carry_out(thread, answer, loop))
        gives_up = loop.call_later(self._world.cloud.gives_up, _give_up, answer)
        try:
            return await asyncio.shield(answer)
        finally:
            gives_up.cancel()

    async def compute(self, call: Callable[[], Result]) -> Result:
        return call()


class _Thread:
    """A call on its own thread, which hangs at the point where it reaches the cloud."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._stands = threading.Event()
        self._go = threading.Event()
        self.value: Any = None
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._stands.wait()

    def _run(self) -> None:
        _here.thread = self
        try:
            self.value = self._call()
        except Exception as error:  # noqa: BLE001 - told to whoever has asked
            self.error = error
        self._stands.set()

    def stand(self) -> None:
        """Called on the thread: wait until the request is carried out."""
        self._stands.set()
        self._go.wait()

    def finish(self) -> None:
        self._go.set()
        self._thread.join()


_here = threading.local()


def _carry_out(thread: _Thread, answer: asyncio.Future[Any], loop: Any) -> None:
    thread.finish()
    if loop is not asyncio.get_running_loop() or answer.done():
        return
    if thread.error is not None:
        answer.set_exception(thread.error)
    else:
        answer.set_result(thread.value)


def _give_up(answer: asyncio.Future[Any]) -> None:
    if not answer.done():
        answer.set_exception(LostError("no answer in time"))


class Life:
    """A process, and a user of it."""

    def __init__(self, world: World) -> None:
        self.world = world
        nobody = Nobody()
        self.store = SqlStore(world.database, Plain(), Disk(world.now))
        self.engine = EngineLife(
            Ports(
                store=self.store,
                types=Types(),
                workers=_Workers(world),
                clouds=world,
                faults=Faults(),
                deferred=nobody,
                signallers=nobody,
                clock=world,
                ids=RandomIds(),
                limits=Limits(cloud_since=world.cloud_since),
            )
        )

    async def create(self, *names: str, kind: str = "Late::Thing", **request: Any) -> None:
        """Ask for a stack of things."""
        things = {name: {"type": kind, "properties": {"value": "a"}} for name in names}
        body = {"heat_template_version": "2018-08-31", "resources": things}
        wanted = StackRequest(name="stack", template=body, **request)
        await self.engine.operations.create(CALLER, wanted)

    async def update(self, value: str, *names: str, **request: Any) -> None:
        """Ask for things of another value."""
        things = {n: {"type": "Late::Thing", "properties": {"value": value}} for n in names}
        body = {"heat_template_version": "2018-08-31", "resources": things}
        address = await self.engine.operations.find(CALLER, "stack")
        wanted = StackRequest(template=body, **request)
        await self.engine.operations.update(CALLER, address, wanted)

    async def delete(self) -> None:
        address = await self.engine.operations.find(CALLER, "stack")
        await self.engine.operations.delete(CALLER, address)

    async def status(self) -> str:
        found = await self.store.find_stack(CALLER.project_id, "stack")
        return "gone" if found is None else f"{found.action}_{found.status}"

    async def ended(self) -> str:
        await self.engine.dispatch.idle()
        return await self.status()

    async def reasons(self) -> set[str]:
        found = await self.store.find_stack(CALLER.project_id, "stack")
        assert found is not None
        return {row.reason for row in await self.store.resources(found.id)}
