"""Counts the costs of many engines on one PostgreSQL: at rest, at work, after the death of one.

Run: ``python -m bench.crowd_of_engines [N ...]``; by default 8, 32 and 100 engines. They are the
engines of the service, each with its own connections, threads and heartbeats, but one process runs
all of them, and each drives few stacks at a time. So all of them work, as on many machines. The
processors of one machine limit the elapsed time; the counts do not depend on them.

Prints a line for each figure, with a column for each number of engines.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa
import uvloop
from tests.postgresql import PostgreSQL, server

from bench.engines import Crew, process, until
from bench.templates import chain
from stoker.dispatch import procrastinate
from stoker.kernel.freeing import loading
from stoker.resources.base.builtin_types import built_in

LIGHT = 8  # turns that an engine of the crowd drives at the same time
REST_SECONDS = 10.0
STACKS = 400
ORPHANS = 250  # stacks of the engine that dies
CLIENTS = 16
COSTS = ("statements", "commits", "fetches", "log bytes", "ms of the server", "ms of engines")
# Locks for event numbers and guards, of NOTIFY, and of rows.
WAITS = ("Lock advisory", "Lock object", "Lock transactionid", "Lock tuple", "LWLock NotifyQueue")
SAMPLE_SECONDS = 0.02
SETTINGS = ("shared_preload_libraries=pg_stat_statements",)  # commits wait for the disk

_STATEMENTS = sa.text("""
    SELECT sum(calls) AS statements,
        sum(calls) FILTER (WHERE query LIKE 'COMMIT%') AS commits,
        sum(calls) FILTER (WHERE query LIKE '%procrastinate_fetch_job%'
            OR query LIKE '%AS due WHERE status%') AS fetches,
        sum(rows) FILTER (WHERE query LIKE 'SELECT pg_notify%') AS notifications
    FROM pg_stat_statements WHERE dbid =
        (SELECT oid FROM pg_database WHERE datname = current_database())
""")
_SERVER = sa.text("""
    SELECT sessions AS "new sessions", pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS "log bytes",
        (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections
    FROM pg_stat_database WHERE datname = current_database()
""")
_WAITING = sa.text("""
    SELECT wait_event_type || ' ' || wait_event AS event, count(*) AS number
    FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type IN ('Lock', 'LWLock') GROUP BY 1
""")
_WORKERS = sa.text("SELECT id FROM procrastinate_workers")
_OWNED = sa.text("SELECT id FROM procrastinate_jobs WHERE worker_id = :worker AND status = 'doing'")


def processor_seconds(pid: int, *, ended: bool = False) -> float:
    """Return the processor time of a process, and of its ``ended`` children; 0 if it has ended."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, stat[11 : 15 if ended else 13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def children_of(pid: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


class Meter:
    """Reads the counters of a server, and the reasons for which its sessions wait."""

    def __init__(self, running: PostgreSQL, url: str) -> None:
        self._database = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        self._connection = self._database.connect()
        self._connection.exec_driver_sql("CREATE EXTENSION pg_stat_statements")
        pid = (running.place / "data/postmaster.pid").read_text().split()[0]
        self._server = int(pid)

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()
        self._database.dispose()

    def counters(self) -> dict[str, float]:
        """Return the counts of everything so far."""
        found = {}
        for statement in (_STATEMENTS, _SERVER):
            [row] = self._connection.execute(statement).mappings()
            found.update({str(name): float(value or 0) for name, value in row.items()})
        # The server's own figure has those of its ended sessions.
        seconds = processor_seconds(self._server, ended=True)
        seconds += sum(map(processor_seconds, children_of(self._server)))
        return {**found, "ms of the server": 1000 * seconds}

    def memory(self) -> float:
        """Return the MiB of all sessions; shared pages count once."""
        kilobytes = 0
        for session in children_of(self._server):
            with contextlib.suppress(OSError):
                lines = Path(f"/proc/{session}/smaps_rollup").read_text().splitlines()
                [pages] = [line.split()[1] for line in lines if line.startswith("Pss:")]
                kilobytes += int(pages)
        return kilobytes / 1024

    @contextlib.contextmanager
    def waits(self) -> Iterator[Mapping[str, float]]:
        """Yield the seconds that sessions wait in the block, by reason; complete at its end."""
        seconds: defaultdict[str, float] = defaultdict(float)
        stop = threading.Event()

        def sample() -> None:
            with self._database.connect() as connection:
                before = time.monotonic()
                while not stop.wait(SAMPLE_SECONDS):
                    rows = connection.execute(_WAITING).all()
                    now = time.monotonic()
                    for event, number in rows:
                        seconds[event] += number * (now - before)
                    before = now

        sampling = threading.Thread(target=sample)
        sampling.start()
        try:
            yield seconds
        finally:
            stop.set()
            sampling.join()


async def drive(url: str, number: int) -> None:
    """Run light engines until SIGTERM."""
    procrastinate.AT_ONCE = LIGHT
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with contextlib.AsyncExitStack() as running:
        for _ in range(number):
            await running.enter_async_context(process(url, drives=True))
        await stop.wait()


class Crowd:
    """Many engines in a process, beside a single one that is older than they."""

    def __init__(self, crew: Crew, meter: Meter, number: int) -> None:
        self._crew = crew
        self._meter = meter
        self._number = number
        self._process = 0

    @contextlib.asynccontextmanager
    async def running(self, url: str) -> AsyncIterator[None]:
        """Run the engines for the block."""
        command = (sys.executable, "-m", "bench.crowd_of_engines", str(self._number))
        started = await asyncio.create_subprocess_exec(*command, "--drive", url)
        self._process = started.pid

        async def complete() -> bool:
            return len(self._crew.ask(_WORKERS)) >= before + self._number

        before = len(self._crew.ask(_WORKERS))
        try:
            await until(complete, every=0.2)
            yield
        finally:
            started.terminate()
            await started.wait()

    def _counters(self) -> dict[str, float]:
        engines = 1000 * processor_seconds(self._process)
        return {**self._meter.counters(), "ms of engines": engines}

    async def rest(self) -> dict[str, float]:
        """Return the costs of idle engines per second."""
        await asyncio.sleep(3)
        before = self._counters()
        await asyncio.sleep(REST_SECONDS)
        after = self._counters()
        return {
            "connections": before["connections"],
            "MiB of their sessions": self._meter.memory(),
            **{
                f"at rest: {name} per second": (after[name] - before[name]) / REST_SECONDS
                for name in (*COSTS, "new sessions")
            },
        }

    async def work(self) -> dict[str, float]:
        """Return the costs of a stack while all engines work."""
        wanted = chain(3)
        for resource in wanted["resources"].values():
            resource["properties"]["wait_secs"] = 0.3
        names = iter([f"s{number}" for number in range(STACKS)])

        async def create_some() -> None:
            for name in names:
                await self._crew.create(name, wanted)

        before, began_at = self._counters(), time.perf_counter()
        with self._meter.waits() as seconds:
            await asyncio.gather(*(create_some() for _ in range(CLIENTS)))
            await until(self._crew.rests)
        took, after = time.perf_counter() - began_at, self._counters()
        used = {name: (after[name] - before[name]) / STACKS for name in (*COSTS, "notifications")}
        # Each process has one connection that listens.
        used["notifications received"] = used["notifications"] * (self._number + 1)
        return {
            f"seconds for {STACKS} stacks": took,
            "connections at work": after["connections"],
            **{f"at work: {name} per stack": cost for name, cost in used.items()},
            **{
                f"at work: ms of {event} per stack": seconds[event] * 1000 / STACKS
                for event in WAITS
            },
        }

    async def death(self) -> dict[str, float]:
        """Return the cost of the death of an engine with many stacks."""
        slow = chain(2)
        for resource in slow["resources"].values():
            resource["properties"]["wait_secs"] = 20.0
        for number in range(ORPHANS):
            await self._crew.create(f"slow{number}", slow)
        [oldest] = sorted(row.id for row in self._crew.ask(_WORKERS))[:1]

        async def owned() -> int:
            return len(self._crew.ask(_OWNED, worker=oldest))

        async def orphaned() -> bool:
            return not await owned()

        await asyncio.sleep(1)
        stacks = await owned()
        await self._crew.end(oldest, signal.SIGKILL)
        await asyncio.sleep(4)
        before, began_at = self._counters(), time.perf_counter()
        await until(orphaned)
        took = time.perf_counter() - began_at
        await asyncio.sleep(2)
        statements = self._counters()["statements"] - before["statements"]
        return {
            "death: stacks of the engine": stacks,
            "death: seconds until they wait for others": took + 4,
            "death: statements": statements,
        }


async def measure(number: int) -> dict[str, float]:
    """Measure a number of engines, on servers of their own."""
    async with crowd_of(number) as (crew, crowd, url), crowd.running(url):
        figures = {**await crowd.rest(), **await crowd.work()}
    async with crowd_of(number) as (crew, crowd, url):
        await crew.add()
        async with crowd.running(url):
            return {**figures, **await crowd.death()}


@contextlib.asynccontextmanager
async def crowd_of(number: int) -> AsyncIterator[tuple[Crew, Crowd, str]]:
    """Run a server, and a process that accepts requests."""
    settings = (*SETTINGS, f"max_connections={20 * number + 100}")
    with server(settings) as running:
        url = running.new()
        meter = Meter(running, url)
        async with process(url, drives=False) as (opened, _, service):
            crew = Crew(opened, service, url)
            try:
                yield crew, Crowd(crew, meter, number), url
            finally:
                await crew.close()
                meter.close()


def main(numbers: Sequence[int]) -> None:
    """Measure, and print the table."""
    found = []
    for number in numbers:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            found.append(runner.run(measure(number)))
            print(number, found[-1], file=sys.stderr)
    print(f"{'engines':60}", *(f"{number:10,}" for number in numbers))
    for name in found[0]:
        print(f"{name:60}", *(f"{figures[name]:10,.1f}" for figures in found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.crowd_of_engines", description=__doc__)
    parser.add_argument("engines", metavar="N", type=int, nargs="*", default=[8, 32, 100])
    parser.add_argument("--drive", metavar="URL", help=argparse.SUPPRESS)
    given = parser.parse_args()
    with loading():
        built_in()
    if given.drive:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as driving:
            driving.run(drive(given.drive, *given.engines))
    else:
        main(given.engines)
