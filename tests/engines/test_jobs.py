"""Turns are fetched, and their ends recorded, many at a time; each is one engine's."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import procrastinate
import psycopg
import pytest
from procrastinate.jobs import Job, Status

from stoker.dispatch.procrastinate import BUSY, FEW, PATIENCE, SPARE, TENURE, Jobs
from stoker.dispatch.tenure import HeartbeatTenure
from tests.postgresql import PostgreSQL

QUEUES = ["stoker"]


class Asked(procrastinate.PsycopgConnector):
    """Counts what it is asked to execute."""

    fetches = 0
    fetched: Callable[[], Awaitable[None]] | None = None
    """What happens between a fetch and its answer."""

    async def execute_query_all_async(self, query, **arguments):
        self.fetches += "fetch_job" in query
        found = await super().execute_query_all_async(query, **arguments)
        if "fetch_job" in query and self.fetched is not None:
            happens, self.fetched = self.fetched, None
            await happens()
        return found


class Engine:
    """The jobs of one engine."""

    def __init__(self, conninfo: str, latency: float, tenure: float) -> None:
        self.connector = Asked(conninfo=conninfo)
        self.jobs = Jobs(self.connector, HeartbeatTenure(tenure), lambda: latency)

    async def fetch(self) -> Job | None:
        assert self.jobs.worker_id is not None
        return await self.jobs.fetch_job(QUEUES, self.jobs.worker_id)

    async def fetch_all(self) -> list[Job]:
        found = []
        while (job := await self.fetch()) is not None:
            found.append(job)
        return found

    async def finish(self, some: Sequence[Job]) -> None:
        ends = (self.jobs.finish_job(job, Status.SUCCEEDED, True) for job in some)
        await asyncio.gather(*ends)


@contextlib.asynccontextmanager
async def engine(
    conninfo: str, latency: float = 0.0, tenure: float = TENURE
) -> AsyncIterator[Engine]:
    made = Engine(conninfo, latency, tenure)
    await made.connector.open_async()
    try:
        await made.jobs.register_worker()
        yield made
    finally:
        await made.connector.close_async()


@pytest.fixture
def conninfo(postgresql: PostgreSQL) -> str:
    """Of a database with the library's tables."""
    name = postgresql.new().partition("@/")[2].partition("?")[0]
    made = f"host={postgresql.place} user=stoker dbname={name}"
    with psycopg.connect(made) as connection:
        connection.execute(procrastinate.schema.SchemaManager.get_schema().encode())
    return made


def ask(conninfo: str, count: int, priority: int = -1) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, args,"
            " scheduled_at) SELECT 'stoker', 'turn', %s, gen_random_uuid(), '{}', now()"
            " FROM generate_series(1, %s)",
            [priority, count],
        )


def tell(conninfo: str) -> None:
    """Tell that there is a turn, whatever there is."""
    with psycopg.connect(conninfo) as connection:
        told = '{"type": "job_inserted", "job_id": 0}'
        connection.execute("SELECT pg_notify('procrastinate_queue_v1#stoker', %s)", [told])


def left(conninfo: str) -> int:
    with psycopg.connect(conninfo) as connection:
        [row] = connection.execute("SELECT count(*) FROM procrastinate_jobs").fetchall()
        return row[0]


async def test_many_turns_are_fetched_by_few_statements_and_each_once(conninfo: str) -> None:
    ask(conninfo, 100)
    async with engine(conninfo) as one, engine(conninfo) as other:
        found = await asyncio.gather(one.fetch_all(), other.fetch_all())
        ids = [job.id for some in found for job in some]
        assert len(ids) == len(set(ids)) == 100
        assert one.connector.fetches + other.connector.fetches < 30
        await one.finish(found[0])
        await other.finish(found[1])
    assert left(conninfo) == 0


async def test_an_engine_whose_transactions_are_slow_takes_few_turns(conninfo: str) -> None:
    ask(conninfo, 100)
    async with engine(conninfo, latency=BUSY) as slow:
        taken = [await slow.fetch() for _ in range(FEW)]
        assert None not in taken
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.fetch(), 3 * BUSY)
        async with engine(conninfo) as quick:
            assert len(await quick.fetch_all()) == 100 - FEW


async def test_a_busy_engine_takes_some_turns_of_those_who_ask_for_few(conninfo: str) -> None:
    ask(conninfo, 100)
    async with engine(conninfo, latency=BUSY) as slow:
        taken = [job for _ in range(FEW) if (job := await slow.fetch()) is not None]
        ask(conninfo, SPARE + 1, priority=0)
        spared = [await asyncio.wait_for(slow.fetch(), 5) for _ in range(SPARE)]
        assert [job and job.priority for job in spared] == [0] * SPARE
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.fetch(), 3 * BUSY)
        await slow.finish(taken[:1])
        assert await asyncio.wait_for(slow.fetch(), 5) is not None


async def test_a_turn_that_ends_makes_room_for_the_next(conninfo: str) -> None:
    ask(conninfo, FEW + 1)
    async with engine(conninfo, latency=BUSY) as slow:
        taken = [job for _ in range(FEW) if (job := await slow.fetch()) is not None]
        waiting = asyncio.ensure_future(slow.fetch())
        await slow.finish(taken)
        assert await asyncio.wait_for(waiting, 5) is not None


async def test_what_was_fetched_and_is_not_begun_is_known(conninfo: str) -> None:
    ask(conninfo, 20)
    async with engine(conninfo) as one:
        begun = [job.id for _ in range(4) if (job := await one.fetch()) is not None]
        waiting = [job.id for job in one.jobs.not_begun()]
        assert waiting
        with psycopg.connect(conninfo) as connection:
            doing = "SELECT id FROM procrastinate_jobs WHERE status = 'doing' ORDER BY id"
            assert [row[0] for row in connection.execute(doing)] == sorted([*begun, *waiting])


async def test_who_may_have_been_taken_over_fetches_nothing_and_ends_nothing(conninfo: str) -> None:
    ask(conninfo, 20)
    async with engine(conninfo) as before, engine(conninfo, tenure=0.0) as late:
        assert await late.fetch() is None
        begun = await before.fetch()
        assert begun is not None
        await late.finish([begun])
    assert left(conninfo) == 20


async def test_a_turn_that_is_asked_for_during_a_fetch_is_fetched(conninfo: str) -> None:
    async with engine(conninfo) as one:
        listening, heard = asyncio.Event(), asyncio.Event()

        async def note(*, notification: Mapping[str, object], **_: object) -> None:
            (heard if notification["job_id"] else listening).set()

        async def is_asked_for() -> None:
            await asyncio.to_thread(ask, conninfo, 1)
            await heard.wait()

        listens = asyncio.ensure_future(
            one.jobs.listen_for_jobs(on_notification=note, queues=QUEUES)
        )
        while not listening.is_set():
            await asyncio.to_thread(tell, conninfo)
        one.connector.fetched = is_asked_for
        assert await asyncio.wait_for(one.fetch(), 5) is not None
        listens.cancel()


async def test_the_youngest_engine_helps_where_the_oldest_lags(conninfo: str) -> None:
    async with engine(conninfo) as oldest, engine(conninfo) as youngest:
        ask(conninfo, 4)
        assert await youngest.fetch() is None
        assert await oldest.fetch() is not None
        await asyncio.sleep(PATIENCE)
        assert await youngest.fetch() is not None
