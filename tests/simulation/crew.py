"""Several engines that share the work on one store, as processes do, and their clients.

Each engine lives on its own loop, which is run in the middle of the loop of the users, turn by
turn. So it can stop between any two of its turns: for good, as after ``kill -9``, or for a while,
as after SIGSTOP; then it continues with its old state. Messages between engines arrive late, in
another order, or not at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from stoker.dispatch.turns import Turns
from stoker.engine.model.interfaces import Change, FencedError, Lease, StoreError
from stoker.engine.model.storage.turns import TurnQueue, notification_of
from stoker.engine.service.service import make_service
from stoker.kernel.values import replace
from stoker.store.store import SqlStore
from tests.simulation.loop import VirtualLoop
from tests.simulation.scenario import Kill

if TYPE_CHECKING:
    from tests.simulation.world import World

BEAT = 1.0
LEASE_S = 4.0
TAKEN_OVER_AFTER = 6.0
HEARS_FOR = 6.0  # mean seconds until an engine loses its notification connection
DEAF_FOR = 3.0  # longest seconds for which it is lost
# A stack with a notification, and the nested stack whose end it reports.
Line = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Blow:
    """A fault of an engine."""

    after: int  # turns of its loop
    how: str  # ``kill``; ``freeze``, for longer than the lease; ``leave``, in order
    fate: str = "any"  # fate of its requests in flight, see :class:`tests.simulation.wire.Wire`

    @property
    def as_kill(self) -> Kill:
        """Return the costliest equivalent, a death of the only engine."""
        return Kill(self.after, returns=self.how == "freeze", fate=self.fate)


def blows_of(seed: int) -> Sequence[Blow]:
    """Return the faults of the engines of a seed, one after another."""
    source = random.Random(seed * 97 + 61)
    return tuple(
        Blow(
            int(20 * 100 ** source.random()),
            source.choice(("kill", "kill", "freeze", "freeze", "leave")),
            source.choice(("soon", "late", "never")),
        )
        for _ in range(source.randint(1, 6))
    )


# Guards that can be switched off to see that a test fails: a silent engine starts no calls;
# notifications wait as a turn; an engine without news polls; an unanswered create is searched for
# until it cannot take effect.
GUARDS = ("lease", "deferred", "missed", "landing")


class Queue(TurnQueue):
    """Turns that are due, with the rules of Procrastinate.

    Of each stack at most one turn is running and one waits. A turn that a transaction schedules
    exists when the transaction is written.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.waiting: dict[str, float] = {}  # by stack: when its turn is due
        self.doing: dict[str, Worker] = {}  # by stack: the owner of its turn
        self.due: Callable[[], None] = lambda: None  # called for turns that are due

    def defer(self, stack_ids: Iterable[str]) -> None:
        """Have turns of these stacks now."""
        for stack_id in stack_ids:
            self.waiting[stack_id] = 0.0
        self.due()

    async def schedule(self, stack_id: str, at: float) -> None:
        await self._write()
        self.waiting[stack_id] = min(self.waiting.get(stack_id, at), at)
        self.due()

    async def consume(self, stack_ids: Sequence[str]) -> Collection[str]:
        await self._write()
        found = {each for each in stack_ids if self._is_due(each)}
        for each in found:
            del self.waiting[each]
        return found

    async def _write(self) -> None:
        await asyncio.sleep(0)
        if self._world.disk.is_locked:
            raise StoreError("the database failed: it is locked", passing=True)

    def _is_due(self, stack_id: str) -> bool:
        return self.waiting.get(stack_id, float("inf")) <= self._world.time()

    def fetch(self, by: Worker) -> str | None:
        """Return a turn that may be started, if there is one."""
        for stack_id in self.waiting:
            if stack_id not in self.doing and self._is_due(stack_id):
                del self.waiting[stack_id]
                self.doing[stack_id] = by
                return stack_id
        return None

    def finish(self, stack_id: str, by: Worker) -> None:
        """A turn has ended."""
        if self.doing.get(stack_id) is by:
            del self.doing[stack_id]

    def sweep(self) -> None:
        """Start those turns again whose engines have been silent for too long."""
        silent = self._world.time() - TAKEN_OVER_AFTER
        for stack_id in [each for each, by in self.doing.items() if by.beat < silent]:
            del self.doing[stack_id]
            self.defer([stack_id])


class Worker(Lease):
    """The lease of an engine, as the others see it, until it has been silent for too long."""

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time
        self.beat = time()

    @property
    def holds(self) -> bool:
        """Return whether no other engine can have acquired the stacks."""
        return self._time() < self.beat + LEASE_S

    def require(self) -> None:
        if not self.holds:
            raise FencedError("silent for too long")


class Reckless(Worker):
    """Starts calls whether or not the lease has expired."""

    def require(self) -> None:
        """Nothing."""


class Engine(Lease):
    """One engine."""

    def __init__(self, crew: Crew, blow: Blow | None) -> None:
        self._crew = crew
        self._world, self._queue = crew.world, crew.queue
        self.blow = blow
        self.alive = True
        self.loop = VirtualLoop(
            self._world.seed, self._world.loop.now, blow.after if blow else None
        )
        self._world.wire.join(self.loop)
        self._frozen = self._deaf = False
        self._next: asyncio.TimerHandle | None = None
        self._worker = self._new_worker()
        self._news = asyncio.Event()
        self.turns = Turns(crew.ports(self), crew.queue)
        self._tasks: set[asyncio.Task[None]] = set()
        self._working = self._run(self._work())
        self._hear_for_now()
        self.wake()

    def require(self) -> None:
        self._worker.require()

    def _new_worker(self) -> Worker:
        kind = Reckless if "lease" in self._crew.without else Worker
        return kind(self._world.time)

    def _run(self, work: Any) -> asyncio.Task[None]:
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _work(self) -> None:
        """Take turns; after too long a silence, start again."""
        while True:
            if not self._worker.holds:
                await self.turns.abandon()
                await asyncio.sleep(0.5)
                self._worker = self._new_worker()
            elif not self._world.disk.is_locked:
                self._worker.beat = self._world.time()
            self._queue.sweep()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT):
                    await self._take()

    async def _take(self) -> None:
        while True:
            self._news.clear()
            while (stack_id := self._queue.fetch(self._worker)) is not None:
                self._run(self._turn(stack_id, self._worker))
            await self._news.wait()

    async def _turn(self, stack_id: str, worker: Worker) -> None:
        with contextlib.suppress(FencedError):
            await self.turns.turn(stack_id)
        if worker.holds:
            self._queue.finish(stack_id, worker)
            self._news.set()

    def hear(self, line: Line | None, *, own: bool) -> None:
        """Handle a notification; None says that turns are due."""
        if self._deaf:
            return
        if line is None:
            self.loop.call_soon(self._news.set)
        else:
            self.loop.call_soon(lambda: self.turns.receive([line], known=own))
        self.wake()

    def _hear_for_now(self) -> None:
        pause = self._world.seed.expovariate(1 / HEARS_FOR)
        self._world.loop.call_later(pause, self.lose_connection)

    def lose_connection(self) -> None:
        """Hear nothing for a while."""
        self._deaf = True
        self._world.loop.call_later(self._world.seed.uniform(0, DEAF_FOR), self._connect)

    def _connect(self) -> None:
        self._deaf = False
        if self.alive:
            self._hear_for_now()
            if "missed" not in self._crew.without:
                self.loop.call_soon(self.turns.miss)
            self.wake()

    def wake(self, at: float | None = None) -> None:
        """Have the loop run at a time of the users' loop, or now."""
        if not self.alive or self._frozen:
            return
        users = self._world.loop
        at = users.now if at is None else at
        if self._next is None or self._next.cancelled() or at < self._next.when():
            if self._next is not None:
                self._next.cancel()
            self._next = users.call_at(at, self._go_on)

    def _go_on(self) -> None:
        self._next = None
        was_over = self.loop.is_over
        wakes_at = self.loop.turn(self._world.loop)
        if was_over:
            self._struck()
        elif not self.alive:
            self._crew.gone(self)
        elif wakes_at is not None:
            self.wake(wakes_at)

    def _struck(self) -> None:
        assert self.blow is not None
        self.loop.kill_after = None
        match self.blow.how:
            case "kill":
                self.kill(self.blow.fate)
            case "freeze":
                self.freeze(self._world.seed.uniform(LEASE_S + 1, 15), self.blow.fate)
            case "leave":
                self.leave()

    def kill(self, fate: str = "any") -> None:
        """End between two turns."""
        self.alive = False
        wire = self._world.wire
        wire.bury(wire.cut(fate, self.loop))
        self._crew.gone(self)

    def freeze(self, seconds: float, fate: str = "any") -> None:
        """Freeze for this time, and lose all connections."""
        wire = self._world.wire
        calls = wire.cut(fate, self.loop)
        self._frozen = True

        def go_on() -> None:
            self._frozen = False
            wire.join(self.loop)
            wire.fail(calls, self.loop)
            self.wake()

        self._world.loop.call_later(seconds, go_on)

    def leave(self) -> None:
        """End in order."""
        self._run(self._leave())
        self.wake()

    async def _leave(self) -> None:
        self._working.cancel()
        await self.turns.close()
        while self._worker in self._queue.doing.values():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        self.alive = False


class Api:
    """A client process: it drives no stack itself, but to users it acts as an engine."""

    def __init__(self, crew: Crew) -> None:
        self.ports, self.generation = crew.ports(None), crew.world.generation
        self.outbox = crew.world.outbox
        self.dispatch = self
        self.turns = Turns(self.ports, crew.queue)
        self.service = make_service(self.ports, self.turns)
        self.operations, self.views = self.service.operations, self.service.views
        self.signals, self.exports = self.service.signals, self.service.exports
        self.missed = asyncio.Event()
        self.missed.set()

    async def idle(self) -> None:
        """Return when no stack has anything to do."""
        pause = 0.1
        while await self.ports.store.unfinished_stacks():
            await asyncio.sleep(pause)
            pause = min(1.1 * pause, 5.0)


class Crew:
    """Engines, and the API. ``without`` names a guard that is switched off."""

    def __init__(
        self, world: World, blows: Sequence[Blow] = (), without: str | None = None, engines: int = 3
    ) -> None:
        self.world = world
        world.remember(self)
        self.without = (without,)
        self.queue = Queue(world)
        self.queue.due = lambda: self._tell(None, None)
        self._blows = iter(blows)
        self._staged: list[tuple[Engine | None, list[Line]]] = []
        world.disk.committed, world.disk.rolled_back = self._committed, self._staged.clear
        self.engines: list[Engine] = []
        self._is_staffed = True
        self.api = Api(self)
        self.engines += [self._another() for _ in range(engines)]

    def _another(self) -> Engine:
        return Engine(self, next(self._blows, None))

    def gone(self, engine: Engine) -> None:
        """Start another engine in the place of one that has ended, except during an outage."""
        self.world.remember(engine)
        place = self.engines.index(engine)
        self.engines[place : place + 1] = [self._another()] if self._is_staffed else []

    def stop_engines(self, fate: str = "any") -> None:
        """Kill all engines; no other one starts until :meth:`start_engines`."""
        self._is_staffed = False
        for engine in [*self.engines]:
            engine.kill(fate)

    def start_engines(self, count: int = 3) -> None:
        """End an outage of the engines."""
        self._is_staffed = True
        self.engines += [self._another() for _ in range(count)]

    def ports(self, engine: Engine | None) -> Any:
        """The ports of one process on the rows of all."""

        def defer(_: sa.Connection, changes: Sequence[Change], messages: bool) -> None:
            told = [notification_of(change) for change in changes]
            lines: list[Line] = [(stack_id, None) for news in told for stack_id in news.due]
            lines += [pair for news in told for pair in news.ended]
            self._staged.append((engine, lines))
            if messages and engine is not None:
                self.world.loop.call_soon(self.api.outbox.wake_listeners)

        ports = self.world.ports(
            lambda *given, **how: SqlStore(*given, **how, defer=defer), lease=engine
        )
        if "landing" in self.without:
            ports = replace(ports, limits=replace(ports.limits, landing=0.0))
        return ports

    def _committed(self) -> None:
        staged = [*self._staged]
        self._staged.clear()
        for by, lines in staged:
            if "deferred" not in self.without:
                self.queue.defer([stack_id for stack_id, _ in lines])
            for line in lines:
                self._tell(by, line)

    def _tell(self, by: Engine | None, line: Line | None) -> None:
        """Deliver notifications late, and in another order."""
        for engine in self.engines:
            late, own = self.world.seed.choice((0.0, 0.01, 0.3)), engine is by
            self.world.loop.call_later(late, lambda e=engine, own=own: e.hear(line, own=own))
