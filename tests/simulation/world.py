"""The world that a scenario runs in: what outlives an engine, and the engines that come and go."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.dispatch.in_process import InProcess
from stoker.engine.finding import Finder
from stoker.engine.operations import Operations
from stoker.engine.ports import Limits, Ports, Store
from stoker.engine.reading import Views
from stoker.engine.records import Stack
from stoker.engine.requests import Caller
from stoker.engine.signalling import SignalService
from stoker.kernel.ids import RandomIds
from stoker.schema.pending import CustomCheck, NameLookup
from stoker.store import tables
from stoker.store.databases import open_database
from stoker.store.store import SqlStore
from tests.simulation.cloud import Busy, Cloud, Gone, Lost
from tests.simulation.loop import Killed, Stuck, VirtualLoop
from tests.simulation.scenario import Kill
from tests.simulation.types import Types

Result = TypeVar("Result")
CALLER = Caller("project", "user", "demo")
START = 1_800_000_000.0

_graveyard: list[object] = []
"""What dead engines held: were it collected, their coroutines would run their last blocks."""


class Plain:
    """No encryption: nothing here is secret, and time matters."""

    def close(self, value: Any) -> str:
        return json.dumps(value)

    def open(self, text: str) -> Any:
        return json.loads(text)


class Pausing:
    """Runs transactions inline, with a place to die before and after each."""

    async def write(self, transaction: Callable[[], Result]) -> Result:
        await asyncio.sleep(0)
        result = transaction()
        await asyncio.sleep(0)
        return result

    async def read(self, transaction: Callable[[], Result]) -> Result:
        await asyncio.sleep(0)
        return transaction()


class Clock:
    """The loop's time."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> float:
        return self._world.time()


class Workers:
    """Calls take a while, and an engine may die before and after each."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._generation = world.generation

    async def run(
        self,
        service: str | None,
        call: Callable[[], Result],
        admitted: Callable[[], Awaitable[None]] | None = None,
    ) -> Result:
        if service is None:
            return call()
        if admitted is not None:
            await admitted()
        await asyncio.sleep(self._world.seed.uniform(0.01, 0.3))
        if self._generation != self._world.generation:
            # who was frozen for so long has lost its connections
            raise Lost("connection reset")
        self._world.cloud.now = self._world.time()
        try:
            return call()
        finally:
            await asyncio.sleep(self._world.seed.uniform(0, 0.1))

    async def compute(self, call: Callable[[], Result]) -> Result:
        await asyncio.sleep(0)
        return call()


class Clouds:
    """Gives every stack the one cloud."""

    def __init__(self, world: World) -> None:
        self._world = world

    def connection(self, stack: Stack) -> Cloud:
        return self._world.cloud

    def lookup(self, stack: Stack, lookups: Sequence[NameLookup]) -> Sequence[str]:
        return [lookup.value for lookup in lookups]

    def check(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        return [None] * len(checks)


class Faults:
    """What the simulated cloud's exceptions mean."""

    def is_not_found(self, error: Exception) -> bool:
        return isinstance(error, Gone)

    def retry_after(self, error: Exception, attempt: int) -> float | None:
        return min(0.2 * 2**attempt, 5.0) if isinstance(error, Busy | Lost) else None

    def describe(self, error: Exception) -> str:
        return f"{type(error).__name__}: {error}"

    def lands_within(self, error: Exception) -> float:
        return 15.0 if isinstance(error, Lost) else 0.0


class Nobody:
    """No credentials, no callbacks."""

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        return {}

    def settle(self, credentials: Mapping[str, Any]) -> None:
        return None

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        return None

    def of(self, stack: Stack) -> Any:
        return None

    def close(self, stack: Stack) -> None:
        return None


class EngineLife:
    """One engine, from its start to its death."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.dispatch = InProcess(ports)
        finder = Finder(ports)
        self.operations = Operations(ports, finder, self.dispatch.notify)
        self.views = Views(ports, finder)
        self.signals = SignalService(ports, finder, self.dispatch.notify)


def _look_again(engine: EngineLife) -> None:
    _graveyard.append(asyncio.ensure_future(engine.dispatch.recover()))


Sabotage = Callable[[Store], Store]
"""Breaks a durability rule: a store that keeps less than it promises."""


class World:
    """What outlives an engine: database, cloud, time, and the seed."""

    def __init__(
        self, seed: int, sabotage: Sabotage | None = None, types: Types | None = None
    ) -> None:
        self.seed = random.Random(seed)
        self.now = 0.0
        self.cloud = Cloud(random.Random(seed + 1))
        self.seal = Plain()
        self.database = open_database("sqlite://")
        self._sabotage = sabotage
        self._types = types or Types()
        self._loop: VirtualLoop | None = None
        self._frozen: VirtualLoop | None = None
        self.generation = 0
        """Counts the engines."""
        self.cloud.recorded = self._is_recorded

    def _is_recorded(self, object_id: str) -> bool:
        column = tables.resources.c.physical_id
        with self.database.connect() as connection:
            return (
                connection.execute(sa.select(column).where(column == object_id)).first() is not None
            )

    def time(self) -> float:
        """The virtual time, seconds since the epoch."""
        return START + (self._loop.now if self._loop is not None else self.now)

    def live(
        self, life: Callable[[EngineLife], Awaitable[Result]], kill: Kill | None = None
    ) -> Result | None:
        """Run an engine until ``life`` returns, or until it is killed (then None)."""
        self.generation += 1
        loop = VirtualLoop(self.seed, self.now, kill.after if kill else None)
        asyncio.set_event_loop(loop)
        workers = Workers(self)

        async def main() -> Result:
            frozen = self._frozen
            engine = EngineLife(self._ports(workers))
            await engine.dispatch.recover()
            if frozen is not None:
                asyncio.get_running_loop().call_later(0.2, self._thaw, frozen)
                # somebody notices that the engine that came back has died again
                asyncio.get_running_loop().call_later(30, _look_again, engine)
            return await life(engine)

        self._loop, running = loop, loop.create_task(main())
        try:
            return loop.run_until_complete(running)
        except Killed:
            _graveyard.append(asyncio.all_tasks(loop))
            self._frozen = loop if kill is not None and kill.returns else None
            return None
        finally:
            self.now = loop.now
            _graveyard.append((loop, running))

    def _thaw(self, frozen: VirtualLoop) -> None:
        """Let an engine that everyone took for dead go on for a while."""
        self._frozen = None
        ours = self._loop
        assert ours is not None
        frozen.now = max(frozen.now, ours.now)
        frozen.kill_after = frozen.turns + 60
        asyncio.events._set_running_loop(None)
        try:
            with contextlib.suppress(Killed, Stuck):
                frozen.run_forever()
        finally:
            asyncio.events._set_running_loop(ours)

    def _ports(self, workers: Workers) -> Ports:
        store: Store = SqlStore(self.database, self.seal, Pausing())
        if self._sabotage is not None:
            store = self._sabotage(store)
        nobody = Nobody()
        return Ports(
            store=store,
            types=self._types,
            workers=workers,
            clouds=Clouds(self),
            faults=Faults(),
            deferred=nobody,
            signallers=nobody,
            clock=Clock(self),
            ids=RandomIds(self.seed),
            limits=Limits(resources_per_stack=-1, timeout_mins=60, failure_grace=20.0),
        )
