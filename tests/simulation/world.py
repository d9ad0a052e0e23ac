"""The world that a scenario runs in: the parts that outlive an engine, and the engines."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import functools
import hashlib
import json
import os
import random
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.dispatch.in_process import InProcess
from stoker.dispatch.timers import WatchTimer
from stoker.engine.model.clouds import RunCall
from stoker.engine.model.interfaces import Lease, PermanentLease, Ports, Store
from stoker.engine.model.limits import Limits
from stoker.engine.model.records import Channel, Stack
from stoker.engine.model.requests import Caller
from stoker.engine.service.service import make_service
from stoker.kernel.errors import UnavailableError
from stoker.kernel.ids import RandomIds
from stoker.kernel.load import Load
from stoker.messaging.sender import Sender
from stoker.schema.constraints import CustomCheck
from stoker.schema.inventory import ExistingObject, NamedObject
from stoker.schema.properties import NameLookup
from stoker.schema.quotas import Quota, QuotaKeys
from stoker.store.schema import tables
from stoker.store.sql.contents import ContentCache
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import Hashed
from stoker.store.store import SqlStore
from tests.simulation.album import Album
from tests.simulation.cloud import BusyError, Cloud, GoneError, LostError
from tests.simulation.disk import Disk
from tests.simulation.loop import KilledError, VirtualLoop
from tests.simulation.mailbox import Mailbox
from tests.simulation.scenario import Kill
from tests.simulation.types import Types
from tests.simulation.wire import REQUEST_TIMEOUT, Connection, Wire

Result = TypeVar("Result")
CALLER = Caller("project", "user", "demo")
START = 1_800_000_000.0
LAST_TURNS = 60
LAST_SECONDS = 10.0  # longest life of an engine that has returned

# Remains of dead engines. If they were collected, their coroutines would run their last blocks.
_graveyard: list[object] = []
# nor when Python ends: they would run into modules that are gone already
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_graveyard))


_disks: list[Disk] = []  # location of the database: the disk of the current world


@functools.cache
def _database() -> sa.Engine:
    """To open one, and to compile all statements for it, takes longer than many plays."""
    database = open_database("sqlite://")

    def commit(connection: sa.Connection) -> None:
        if _disks:
            _disks[-1].commit(connection)

    def roll_back(_: sa.Connection) -> None:
        if _disks:
            _disks[-1].rolled_back()

    sa.event.listen(database, "commit", commit)
    sa.event.listen(database, "rollback", roll_back)
    return database


def empty_database() -> sa.Engine:
    """A database with nothing in it, of whichever world comes next: one lives at a time."""
    _disks.clear()
    with _database().begin() as connection:
        for table in reversed(tables.metadata.sorted_tables):
            connection.execute(table.delete())
    return _database()


def driver_connection(database: sa.Engine) -> sqlite3.Connection:
    """Return the connection of the driver below SQLAlchemy.

    The watchers that read after every commit would take a quarter of a play by way of SQLAlchemy.
    """
    connection = database.raw_connection()
    found = connection.driver_connection
    connection.close()  # back to the pool, which keeps it open
    assert isinstance(found, sqlite3.Connection)
    return found


def no_descriptor() -> Exception:
    """The error of a process that may not open another file."""
    return OSError(errno.EMFILE, os.strerror(errno.EMFILE))


class DifferenceError(SystemExit):
    """An incremental result differs from the full one. It ends the simulation, as no error does."""


class StrictVerification:
    """Compares every incremental result with the full one."""

    def report(self, stack_id: str, what: str, where: str) -> None:
        raise DifferenceError(f"{what} of {stack_id} differs: {where}")


class Plain:
    """No encryption: nothing here is secret, and time matters."""

    def encrypt(self, value: Any) -> str:
        return json.dumps(value)

    def __init__(self) -> None:
        self.contents = ContentCache()

    def hashed(self, value: Any) -> Hashed:
        text = self.encrypt(dict(value) if isinstance(value, Mapping) else value)
        return hashlib.sha256(text.encode()).hexdigest(), lambda: text

    def decrypt(self, text: str) -> Any:
        return json.loads(text)

    def decrypt_content(self, text: str) -> tuple[Any, int]:
        return json.loads(text), len(text)


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

    def load(self, service: str) -> Load:
        return Load(1)

    def admission(self, service: str) -> AbstractAsyncContextManager[RunCall]:
        return nullcontext(partial(self.run, service))

    async def run(self, service: str | None, call: Callable[[], Result]) -> Result:
        if service in (None, "catalog"):
            return call()  # reading the catalog of the simulated cloud takes no time
        self._world.calls += 1
        if self._world.calls - 1 in self._world.lacks:
            if self._world.queues_calls:
                late = asyncio.get_running_loop()
                late.call_later(1.0, lambda: late.create_task(self._world.wire.call(call)))
            raise self._world.shortage()
        found: Result = await self._world.wire.call(call)
        return found

    async def compute(self, call: Callable[[], Result]) -> Result:
        await asyncio.sleep(0)
        return call()


class Clouds:
    """Gives every stack the one cloud."""

    def __init__(self, world: World, lease: Lease) -> None:
        self._world = world
        self._lease = lease

    def connection(self, stack: Stack) -> Connection:
        return Connection(self._world.cloud, self._lease)

    def lookup(self, stack: Stack, lookups: Sequence[NameLookup]) -> Sequence[str]:
        return [lookup.value for lookup in lookups]

    def check(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        return [None] * len(checks)

    def known_faults(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        return [None] * len(checks)

    def quotas(self, stack: Stack, use: QuotaKeys) -> Sequence[Quota]:
        return []

    def inventory(self, stack: Stack) -> Sequence[ExistingObject]:
        return []

    def choices(self, stack: Stack, constraint: str, most: int) -> Sequence[NamedObject]:
        return []

    def console_log(self, stack: Stack, server_id: str, lines: int) -> str:
        return ""

    def lacking(
        self, stack: Stack, dependencies: Sequence[tuple[str, str]]
    ) -> Sequence[str | None]:
        return [None] * len(dependencies)


class Faults:
    """Return the meaning of the simulated cloud's exceptions."""

    def is_not_found(self, error: Exception) -> bool:
        return isinstance(error, GoneError)

    def retry_after(self, error: Exception, attempt: int) -> float | None:
        return (
            min(0.2 * 2**attempt, 5.0)
            if isinstance(error, BusyError | LostError | UnavailableError)
            else None
        )

    def describe(self, error: Exception) -> str:
        return f"{type(error).__name__}: {error}"

    def lands_within(self, error: Exception) -> float:
        return REQUEST_TIMEOUT if isinstance(error, LostError) else 0.0


class Nobody:
    """No credentials, no callbacks."""

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        return {}

    def forget(self, credentials: Mapping[str, Any]) -> None:
        return None

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        return None

    def of(self, stack: Stack) -> Any:
        return None

    def close(self, stack: Stack) -> None:
        return None


class EngineLife:
    """One engine, from its start to its death."""

    def __init__(self, ports: Ports, generation: int = 0) -> None:
        self.ports, self.generation = ports, generation
        self.dispatch = InProcess(ports)
        self.service = make_service(ports, self.dispatch)
        self.operations, self.views = self.service.operations, self.service.views
        self.signals, self.exports = self.service.signals, self.service.exports
        # Set once it is known that no other engine lives, and its stacks are acquired.
        self.missed = asyncio.Event()

    async def take_over(self) -> None:
        """Acquire the stacks that other engines have left: none of them lives."""
        await self.dispatch.recover()
        self.missed.set()


def _look_again(engine: EngineLife) -> None:
    _graveyard.append(asyncio.ensure_future(engine.take_over()))


# Breaks a durability rule: a store that keeps less than it promises.
Sabotage = Callable[[Store], Store]


class World:
    """The parts that outlive an engine: database, cloud, time, and the seed."""

    def __init__(
        self,
        seed: int,
        sabotage: Sabotage | None = None,
        types: Types | None = None,
        *,
        notifies: bool = False,
    ) -> None:
        self.seed = random.Random(seed)
        self.notifies = notifies
        self.mailbox: Mailbox | None = Mailbox(random.Random(seed + 2))
        self.now = 0.0
        self.cloud = Cloud(random.Random(seed + 1))
        self.cipher = Plain()
        self.wire = Wire(self.seed, self.cloud, self.time)
        self.database = empty_database()
        self.album = Album(driver_connection(self.database), self.cloud)
        self.disk = Disk(self.time, written=lambda: self.album.look(self.time()))
        _disks.append(self.disk)
        self._sabotage = sabotage
        self._types = types or Types()
        self._loop: VirtualLoop | None = None
        # An engine that is considered dead, and its calls.
        self._frozen: tuple[VirtualLoop, list[Any]] | None = None
        self.generation = 0  # counts the engines
        self.calls = 0  # calls of engines to the cloud so far
        # Numbers of the calls for which the machine lacks a resource.
        self.lacks: Collection[int] = ()
        self.shortage: Callable[[], Exception] = no_descriptor
        # Whether such calls run later, as those for which an executor could not start a thread.
        self.queues_calls = False
        self.watched_until = 0.0  # seconds after the start during which alarms are evaluated
        # Far away, so that an engine that misses an end waits for ever, and the test sees that.
        self.second_look = 1e6
        self.cloud.recorded = self._is_recorded

    def _is_recorded(self, object_id: str) -> bool:
        """Return whether some resource has the object, or a stack that is adopted is to have it."""
        (found,) = self.album.database.execute(
            "SELECT EXISTS (SELECT 1 FROM resources WHERE physical_id = ?)"
            " OR EXISTS (SELECT 1 FROM inputs WHERE instr(adopted, ?))",
            (object_id, f'"{object_id}"'),
        ).fetchone()
        return bool(found)

    @property
    def loop(self) -> VirtualLoop:
        """The loop of the engine that lives."""
        assert self._loop is not None
        return self._loop

    def time(self) -> float:
        """The virtual time, seconds since the epoch."""
        return START + (self._loop.now if self._loop is not None else self.now)

    def live(
        self,
        life: Callable[[EngineLife], Awaitable[Result]],
        kill: Kill | None = None,
        dies: Callable[[int, bool], Kill | None] | None = None,
    ) -> Result | None:
        """Run an engine until ``life`` returns, or until it is killed (then None).

        Types may kill it, too, by raising :class:`KilledError`. ``dies`` is called after every turn
        with whether requests are in flight; the engine is killed when it returns a death.
        """
        self.generation += 1
        loop = VirtualLoop(self.seed, self.now, kill.after if kill else None)
        if dies is not None:
            loop.kill_after = 1
        asyncio.set_event_loop(loop)

        async def main() -> Result:
            frozen, self._frozen = self._frozen, None
            self.wire.deliver(loop)
            self.wire.join(loop)
            engine = EngineLife(self.ports(), self.generation)
            self.attend(engine)
            if frozen is None:
                await engine.take_over()
            else:
                await engine.dispatch.recover()
                loop.call_later(0.2, self._thaw, *frozen)
                # a monitor notices that the engine that returned has died again
                loop.call_later(30, _look_again, engine)
            return await life(engine)

        self._loop, running = loop, loop.create_task(main())
        try:
            while True:
                try:
                    return loop.run_until_complete(running)
                except KilledError:
                    if dies is not None:
                        kill = dies(loop.turns, self.wire.under_way() is not None)
                        if kill is None:
                            loop.kill_after = loop.turns + 1
                            continue
                    self._bury(loop, kill)
                    return None
        finally:
            self.now = loop.now
            _graveyard.append((loop, running))

    def _bury(self, loop: VirtualLoop, kill: Kill | None) -> None:
        _graveyard.append(asyncio.all_tasks(loop))
        calls = self.wire.cut(kill.fate if kill else "never", loop)
        if kill and kill.returns:
            self._frozen = (loop, calls)
        else:
            self.wire.bury(calls)

    def attend(self, engine: Any) -> None:
        """Start the background work of a process: evaluate alarms, send notifications."""
        if self.watched_until:
            WatchTimer(engine.ports.store, engine.ports.clock, self._looking(engine)).start()
        if self.notifies and self.mailbox is not None:
            Sender(self.outbox, Channel.BUS, self.mailbox, 1000).start()

    def _looking(self, engine: Any) -> Callable[[], Awaitable[float | None]]:
        """Evaluate the alarms that are due, while any measurements arrive."""

        async def evaluate_due() -> float | None:
            if self.time() > START + self.watched_until:
                return None
            return await engine.service.monitoring.watches.evaluate_due()

        return evaluate_due

    def _thaw(self, frozen: VirtualLoop, calls: list[Any]) -> None:
        """Let an engine that is considered dead continue for a while, beside its successor."""
        ours = self.loop
        frozen.now, frozen.kill_after = ours.now, frozen.turns + LAST_TURNS
        dies_at = ours.now + LAST_SECONDS
        self.wire.fail(calls, frozen)

        def go_on() -> None:
            wakes_at = frozen.turn(ours)
            if wakes_at is not None and wakes_at < dies_at:
                ours.call_at(wakes_at, go_on)
            else:
                self.wire.bury(calls)

        go_on()

    def live_together(self, life: Callable[[], Awaitable[Result]]) -> Result:
        """Run a life that brings engines of its own, until it returns."""
        self._loop = loop = VirtualLoop(self.seed, self.now)
        asyncio.set_event_loop(loop)
        self.wire.deliver(loop)

        async def main() -> Result:
            return await life()

        running = loop.create_task(main())
        try:
            return loop.run_until_complete(running)
        finally:
            self.now = loop.now
            _graveyard.append((loop, running))

    @staticmethod
    def remember(dead: object) -> None:
        """Keep the remains of dead engines, so that no part of them runs on."""
        _graveyard.append(dead)

    def ports(
        self, open_store: Callable[..., SqlStore] = SqlStore, lease: Lease | None = None
    ) -> Ports:
        """The ports of a process, which is the only one unless it has a lease."""
        lease = lease or PermanentLease()
        own = open_store(self.database, self.cipher, self.disk, notifies=self.notifies)
        self.outbox = own.outbox
        store: Store = own
        if self._sabotage is not None:
            store = self._sabotage(store)
        nobody = Nobody()
        return Ports(
            verification=StrictVerification(),
            store=store,
            types=self._types,
            workers=Workers(self),
            clouds=Clouds(self, lease),
            lease=lease,
            faults=Faults(),
            deferred=nobody,
            signallers=nobody,
            clock=Clock(self),
            ids=RandomIds(self.seed),
            limits=Limits(
                resources_per_stack=-1,
                timeout_mins=60,
                failure_grace=20.0,
                second_look=self.second_look,
                landing=REQUEST_TIMEOUT,
            ),
        )
