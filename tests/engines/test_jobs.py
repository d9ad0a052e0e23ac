"""Turns are fetched, and their ends recorded, many at a time; each is one engine's."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import procrastinate
import psycopg
import pytest

from stoker.dispatch import procrastinate as dispatching
from stoker.dispatch.lease import LEASE_S, HeartbeatLease, clock
from stoker.dispatch.procrastinate import BUSY, FEW, PATIENCE, SPARE, Jobs, Procrastinate
from stoker.kernel.time_limit import project
from tests.postgresql import PostgreSQL

QUEUES = ["stoker"]


class Asked(procrastinate.PsycopgConnector):
    """Counts the statements that it is asked to execute."""

    fetches = 0
    asked: Callable[[], Awaitable[None]] | None = None  # called before a fetch
    fetched: Callable[[], Awaitable[None]] | None = None  # called between a fetch and its answer

    async def execute_query_all_async(self, query, **arguments):
        self.fetches += "fetch_job" in query
        if "fetch_job" in query and self.asked is not None:
            happens, self.asked = self.asked, None
            await happens()
        found = await super().execute_query_all_async(query, **arguments)
        if "fetch_job" in query and self.fetched is not None:
            happens, self.fetched = self.fetched, None
            await happens()
        return found


class Engine:
    """The jobs of one engine."""

    def __init__(self, conninfo: str, latency: float) -> None:
        self.connector = Asked(conninfo=conninfo)
        self.lease = HeartbeatLease(LEASE_S)
        self.jobs = Jobs(self.connector, self.lease, lambda: latency)

    async def fetch(self) -> list[int]:
        """The jobs of turns that were fetched together."""
        assert self.jobs.worker_id is not None
        job = await self.jobs.fetch_job(QUEUES, self.jobs.worker_id)
        return [] if job is None else [*job.task_kwargs["turns"]]

    async def fetch_some(self, count: int) -> list[int]:
        """Fetch this number of jobs, if there are as many."""
        found: list[int] = []
        while len(found) < count and (some := await self.fetch()):
            found += some
        return found

    async def end(self, some: Sequence[int]) -> None:
        await asyncio.gather(*map(self.jobs.end, some))


@contextlib.asynccontextmanager
async def engine(conninfo: str, latency: float = 0.0) -> AsyncIterator[Engine]:
    made = Engine(conninfo, latency)
    await made.connector.open_async()
    try:
        await made.jobs.register_worker()
        yield made
    finally:
        await made.connector.close_async()


@pytest.fixture
def conninfo(postgresql: PostgreSQL) -> str:
    """Return a database with the library's tables and the columns of stacks that fetches read."""
    name = postgresql.new().partition("@/")[2].partition("?")[0]
    made = f"host={postgresql.place} user=stoker dbname={name}"
    with psycopg.connect(made) as connection:
        connection.execute(procrastinate.schema.SchemaManager.get_schema().encode())
        connection.execute("CREATE TABLE stacks (id text PRIMARY KEY, project_id text)")
    return made


def ask(conninfo: str, count: int, priority: int = -1, stack_id: str | None = None) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, args,"
            " scheduled_at) SELECT 'stoker', 'turn', %s, coalesce(%s, gen_random_uuid()::text),"
            " '{}', now() FROM generate_series(1, %s)",
            [priority, stack_id, count],
        )


def of_priority(conninfo: str, priority: int) -> set[int]:
    with psycopg.connect(conninfo) as connection:
        wanted = "SELECT id FROM procrastinate_jobs WHERE priority = %s"
        return {row[0] for row in connection.execute(wanted, [priority])}


def left(conninfo: str) -> int:
    with psycopg.connect(conninfo) as connection:
        [row] = connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchall()
        return row[0]


async def test_many_jobs_are_fetched_once_with_few_statements(conninfo: str) -> None:
    ask(conninfo, 100)
    async with engine(conninfo) as one, engine(conninfo) as other:
        await asyncio.sleep(PATIENCE)  # else it is all the older one's
        found = await asyncio.gather(one.fetch_some(100), other.fetch_some(100))
        ids = [*found[0], *found[1]]
        assert len(ids) == len(set(ids)) == 100
        assert one.connector.fetches + other.connector.fetches < 30
        await one.end(found[0])
        await other.end(found[1])
    assert left(conninfo) == 0


async def test_engine_with_slow_transactions_fetches_few_jobs(conninfo: str) -> None:
    ask(conninfo, 100)
    async with engine(conninfo, latency=BUSY) as slow:
        assert len(await slow.fetch_some(FEW)) == FEW
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.fetch(), 3 * BUSY)
        async with engine(conninfo) as quick:
            assert len(await quick.fetch_some(100)) == 100 - FEW


async def test_busy_engine_reserves_slots_for_priority_jobs(conninfo: str) -> None:
    ask(conninfo, 100)
    async with engine(conninfo, latency=BUSY) as slow:
        taken = await slow.fetch_some(FEW)
        ask(conninfo, SPARE + 1, priority=0)
        spared = await asyncio.wait_for(slow.fetch_some(SPARE), 5)
        assert len(spared) == SPARE
        assert set(spared) < of_priority(conninfo, 0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.fetch(), 3 * BUSY)
        await slow.end(taken[:1])
        assert await asyncio.wait_for(slow.fetch(), 5)


async def test_busy_engine_fetches_priority_job_immediately(
    conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(conninfo, 100)
    # so long that nothing but what it hears makes it look
    monkeypatch.setattr(dispatching, "BUSY", 60.0)
    async with engine(conninfo, latency=60.0) as slow:
        await slow.fetch_some(FEW)
        waiting = asyncio.ensure_future(slow.fetch())
        ask(conninfo, 1, priority=0)
        slow.jobs.notify()
        assert len(await asyncio.wait_for(waiting, 5)) == 1


async def test_job_of_driven_stack_uses_no_reserved_slot(
    conninfo: str,
) -> None:
    ask(conninfo, 100)
    async with engine(conninfo, latency=BUSY) as slow:
        await slow.fetch_some(FEW)
        for number in range(2):
            ask(conninfo, 1, priority=0, stack_id="driven")
            if number == 0:
                assert len(await asyncio.wait_for(slow.fetch(), 5)) == 1
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.fetch(), 3 * BUSY)


async def test_job_lost_to_other_engine_frees_its_slot(
    conninfo: str,
) -> None:
    ask(conninfo, 100)
    async with engine(conninfo, latency=BUSY) as slow:
        await slow.fetch_some(FEW)

        async def is_taken() -> None:
            with psycopg.connect(conninfo) as connection:
                connection.execute(
                    "UPDATE procrastinate_jobs SET status = 'doing' WHERE priority = 0"
                )

        for _ in range(SPARE):
            ask(conninfo, 1, priority=0)
            slow.connector.asked = is_taken
            assert await asyncio.wait_for(slow.fetch(), 5)
        ask(conninfo, 1, priority=0)
        [taken] = await asyncio.wait_for(slow.fetch(), 5)
        assert taken in of_priority(conninfo, 0)


class Noted:
    """Turns that note for which project they are."""

    def __init__(self, *counts: int) -> None:
        self.projects: dict[str, str] = {}
        # Set when the number of jobs is reached.
        self.were = {count: asyncio.Event() for count in counts}

    async def turn(self, stack_id: str) -> None:
        self.projects[stack_id] = project.get()
        if (count := len(self.projects)) in self.were:
            self.were[count].set()

    async def wake_due(self) -> None: ...

    async def abandon(self) -> None: ...

    async def close(self) -> None: ...


class Calm:
    """Nothing is wrong with any stack."""

    async def not_driven(self) -> list[str]:
        return []

    async def is_driven_by_one(self) -> bool:
        return False


@contextlib.asynccontextmanager
async def working(conninfo: str, turns: Noted) -> AsyncIterator[None]:
    """An engine that takes turns."""
    one = Procrastinate(conninfo, Calm(), HeartbeatLease(LEASE_S), lambda: 0.0)
    await one.start(turns)
    try:
        yield
    finally:
        await one.close()


async def test_job_runs_for_project_of_its_stack(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("INSERT INTO stacks VALUES ('a', 'one'), ('b', 'other')")
    for stack_id in ("a", "b", "gone"):
        ask(conninfo, 1, stack_id=stack_id)
    turns = Noted(3)
    async with working(conninfo, turns):
        await asyncio.wait_for(turns.were[3].wait(), 10)
    assert turns.projects == {"a": "one", "b": "other", "gone": ""}


async def test_refilled_queue_is_not_scanned_for_each_job(
    conninfo: str,
) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("DROP INDEX procrastinate_jobs_id_lock_idx_v1")
        connection.execute(
            "CREATE INDEX stoker_jobs_lock ON procrastinate_jobs (lock)"
            " WHERE status IN ('todo', 'doing')"
        )
        connection.execute("VACUUM ANALYZE procrastinate_jobs")
    few, many = 30, 1000
    for _ in range(few):
        ask(conninfo, 1)
    turns = Noted(few, few + many)
    async with working(conninfo, turns):
        await asyncio.wait_for(turns.were[few].wait(), 10)
        ask(conninfo, many)
        await asyncio.wait_for(turns.were[few + many].wait(), 60)
    with psycopg.connect(conninfo) as connection:
        [row] = connection.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables"
            " WHERE relname = 'procrastinate_jobs'"
        ).fetchall()
    assert row[0] < 20 * many


async def test_ended_job_makes_room_for_next(conninfo: str) -> None:
    ask(conninfo, FEW + 1)
    async with engine(conninfo, latency=BUSY) as slow:
        taken = await slow.fetch_some(FEW)
        waiting = asyncio.ensure_future(slow.fetch())
        await slow.end(taken)
        assert len(await asyncio.wait_for(waiting, 5)) == 1


async def test_jobs_fetched_together_end_separately(conninfo: str) -> None:
    ask(conninfo, 20)
    async with engine(conninfo) as one:
        taken = await one.fetch_some(20)
        await one.end(taken[:7])
        assert left(conninfo) == 13
        await one.end(taken[7:])
    assert left(conninfo) == 0


async def test_job_acquired_by_other_engine_is_not_ended(conninfo: str) -> None:
    ask(conninfo, 1)
    async with engine(conninfo) as late, engine(conninfo) as other:
        [turn] = await late.fetch()
        [stalled] = await other.jobs.get_stalled_jobs(queue="stoker", seconds_since_heartbeat=-1)
        await other.jobs.retry_job(stalled)
        await asyncio.sleep(PATIENCE)
        assert await other.fetch() == [turn]
        await late.end([turn])
        assert left(conninfo) == 1
        await other.end([turn])
    assert left(conninfo) == 0


async def test_jobs_of_dead_engine_wait_for_others(conninfo: str) -> None:
    ask(conninfo, 20)
    async with engine(conninfo) as dead, engine(conninfo) as one, engine(conninfo) as other:
        taken = await dead.fetch_some(20)
        await one.jobs.sweep()
        assert not await one.fetch()
        with psycopg.connect(conninfo) as connection:
            connection.execute(
                "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'"
                " WHERE id = %s",
                [dead.jobs.worker_id],
            )
            # A change has requested a turn of a stack since.
            connection.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock)"
                " SELECT 'stoker', 'turn', lock, lock FROM procrastinate_jobs WHERE id = %s",
                taken[:1],
            )
        await asyncio.gather(one.jobs.sweep(), other.jobs.sweep())
        found = await one.fetch_some(20)
        assert len(found) == 20
        assert set(taken) - set(found) == set(taken[:1])
    assert left(conninfo) == 20


async def test_engine_with_expired_lease_fetches_and_ends_nothing(conninfo: str) -> None:
    ask(conninfo, 20)
    async with engine(conninfo) as late:
        begun = await late.fetch()
        assert begun
        late.lease.renew(clock() - LEASE_S)
        assert not await late.fetch()
        await late.end(begun)
    assert left(conninfo) == 20


async def test_job_scheduled_during_fetch_is_fetched(conninfo: str) -> None:
    async with engine(conninfo) as one:

        async def is_asked_for() -> None:
            await asyncio.to_thread(ask, conninfo, 1)
            one.jobs.notify()

        one.connector.fetched = is_asked_for
        assert await asyncio.wait_for(one.fetch(), 5)


async def test_worker_is_notified_of_new_job(conninfo: str) -> None:
    async with engine(conninfo) as one:
        heard = asyncio.Event()

        async def note(**_: object) -> None:
            heard.set()

        one.jobs.notify()
        listens = asyncio.ensure_future(one.jobs.listen_for_jobs(on_notification=note))
        for _ in range(2):
            await asyncio.wait_for(heard.wait(), 5)
            heard.clear()
            one.jobs.notify()
        listens.cancel()


async def test_youngest_engine_fetches_jobs_of_lagging_oldest(conninfo: str) -> None:
    async with engine(conninfo) as oldest, engine(conninfo) as youngest:
        ask(conninfo, 4)
        assert not await youngest.fetch()
        assert await oldest.fetch()
        await asyncio.sleep(PATIENCE)
        assert await youngest.fetch()
