"""Times engines that share the work on a PostgreSQL, one process each; no HTTP, no cloud.

Run: ``python -m bench.engines {stacks,tree,killed,ended} COUNT [--engines N] [--database URL]``.
This process accepts requests; with ``--engines 0`` it drives stacks as well, on SQLite unless a
database is named. Prints seconds, as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import uvloop

from bench.database import PRIVATE, add_option, empty_database
from bench.engine import CALLER, ports_on
from bench.report import print_json
from bench.templates import chain, child, template, tree
from stoker.dispatch.lease import LEASE_S, HeartbeatLease
from stoker.engine.model.records import Status
from stoker.engine.model.requests import StackRequest
from stoker.engine.service.service import Service, make_service
from stoker.kernel.freeing import loading
from stoker.kernel.values import replace
from stoker.resources.base.builtin_types import built_in
from stoker.server.cluster_member import ClusterScheduler
from stoker.server.scheduling import StackScheduler, StandaloneScheduler
from stoker.store.opening import OpenStore

KEY = "the key of all processes of a measurement"
AT_ONCE = 16  # concurrent requests in measurements of many
SMALL = template({"r": {"type": "OS::Heat::TestResource"}})
_WORKERS = sa.text("SELECT id FROM procrastinate_workers")
_DRIVEN_BY = sa.text(
    "SELECT worker_id FROM procrastinate_jobs WHERE lock = :stack AND status = 'doing'"
)
_HOW_FAR = sa.text(
    "SELECT epoch, (SELECT max(number) FROM events WHERE stack_id = stacks.id)"
    " FROM stacks WHERE id = :stack"
)


@contextlib.asynccontextmanager
async def process(
    url: str | None, *, drives: bool
) -> AsyncIterator[tuple[OpenStore, StackScheduler, Service]]:
    """Run the parts of one service process, without the APIs.

    Without a URL, it is the only process.
    """
    name = str(uuid.uuid4())
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        member = None if url is None else name
        opened = OpenStore(url, Path(directory), KEY, member=member)
        ports = ports_on(opened.store, opened.clock)
        driving: StackScheduler
        if opened.members is None:
            driving = StandaloneScheduler(ports, "bench")
        else:
            lease = HeartbeatLease(LEASE_S) if drives else None
            if lease is not None:
                ports = replace(ports, lease=lease)
            driving = ClusterScheduler(opened.members, ports, name, "bench", lease)
        service = make_service(driving.ports, driving.dispatcher)
        await driving.start([], {}, lambda among: None)
        try:
            yield opened, driving, service
        finally:
            await driving.close()
            opened.close()


async def drive(url: str) -> None:
    """Run an engine until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with process(url, drives=True):
        print("ready", flush=True)
        await stop.wait()


class Crew:
    """Engine processes, and the service that gives them work."""

    def __init__(self, opened: OpenStore, service: Service, url: str | None) -> None:
        self._opened = opened
        self._url = url
        self.service = service
        self.store = opened.store
        self._database = sa.create_engine(url, isolation_level="AUTOCOMMIT") if url else None
        self._engines: dict[int, asyncio.subprocess.Process] = {}  # by the worker id of the queue

    def ask(self, statement: sa.TextClause, **values: object) -> Sequence[Any]:
        """Return the rows of a statement."""
        assert self._database is not None
        with self._database.connect() as connection:
            return connection.execute(statement, values).all()

    async def add(self) -> None:
        """Start one more engine; return when it acquires turns."""
        assert self._url is not None
        before = {each.id for each in self.ask(_WORKERS)}
        command = (sys.executable, "-m", "bench.engines", "drive", "--database", self._url)
        started = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        new: set[int] = set()
        while not new:
            await asyncio.sleep(0.05)
            new = {each.id for each in self.ask(_WORKERS)} - before
        self._engines[new.pop()] = started

    async def end(self, worker: int, how: int) -> None:
        """End an engine with a signal."""
        self._engines.pop(worker).send_signal(how)

    async def close(self) -> None:
        """End all engines."""
        for engine in self._engines.values():
            engine.terminate()
        await asyncio.gather(*(engine.wait() for engine in self._engines.values()))

    async def create(self, name: str, wanted: Mapping[str, Any]) -> str:
        """Start creating a stack; return its id."""
        request = StackRequest(name=name, template=wanted, files={"child.yaml": child()})
        return (await self.service.operations.create(CALLER, request)).id

    async def is_done(self, stack_id: str) -> bool:
        """Return whether the stack is complete. Raises RuntimeError if it has failed."""
        stack = await self.store.stack(stack_id)
        assert stack is not None
        if stack.status is Status.FAILED:
            raise RuntimeError(f"{stack.action}_{stack.status}: {stack.reason}")
        return stack.status is Status.COMPLETE

    async def rests(self) -> bool:
        """Return whether no operation is open."""
        return not await self._opened.store.open_operations()

    async def driven_by(self, stack_id: str) -> Sequence[int]:
        """Return the worker that drives a stack, if there is one."""
        return [row.worker_id for row in self.ask(_DRIVEN_BY, stack=stack_id)]

    async def how_far(self, stack_id: str) -> tuple[int, int]:
        """Return the fencing token of a stack, and the number of its latest event."""
        [row] = self.ask(_HOW_FAR, stack=stack_id)
        return tuple(row)


async def until(claim: Callable[[], Awaitable[Any]], every: float = 0.02) -> Any:
    """Poll a claim until its result is true, and return the result."""
    while True:
        if found := await claim():
            return found
        await asyncio.sleep(every)


async def stacks(crew: Crew, count: int) -> dict[str, float]:
    """Measure the create of ``count`` small stacks."""
    names = iter([f"s{number}" for number in range(count)])

    async def create_some() -> None:
        for name in names:
            await crew.create(name, SMALL)

    begin = time.perf_counter()
    await asyncio.gather(*(create_some() for _ in range(AT_ONCE)))
    accepted = time.perf_counter() - begin
    await until(crew.rests)
    return {"create": time.perf_counter() - begin, "accepted": accepted}


async def nested(crew: Crew, count: int) -> dict[str, float]:
    """Measure the create of a tree of ``count`` nested stacks."""
    begin = time.perf_counter()
    stack_id = await crew.create("tree", tree(count))
    await until(crew.rests)
    if not await crew.is_done(stack_id):
        raise RuntimeError("the tree is not complete")
    return {"create": time.perf_counter() - begin}


async def taken_over(crew: Crew, stack_id: str, how: int) -> float:
    """Return the seconds from the end of a stack's engine to the next event by another one."""
    [worker] = await until(lambda: crew.driven_by(stack_id))
    token, _ = await crew.how_far(stack_id)
    begin = time.perf_counter()
    await crew.end(worker, how)

    async def taken() -> int | None:
        found, event = await crew.how_far(stack_id)
        return event if found != token else None

    async def further() -> bool:
        return bool((await crew.how_far(stack_id))[1] > event)

    event = await until(taken)
    await until(further)
    return time.perf_counter() - begin


def fail_over(how: int) -> Callable[[Crew, int], Awaitable[dict[str, float]]]:
    """Return the measurement of ``count`` such changes of the engine, by a signal."""

    async def measure(crew: Crew, count: int) -> dict[str, float]:
        slow = chain(1000)
        for resource in slow["resources"].values():
            resource["properties"]["wait_secs"] = 0.5
        stack_id = await crew.create("slow", slow)
        tries = []
        for _ in range(count):
            await asyncio.sleep(1)
            tries.append(await taken_over(crew, stack_id, how))
            await crew.add()
        return {"resumed": statistics.median(tries), "longest": max(tries)}

    return measure


MEASUREMENTS = {
    "stacks": stacks,
    "tree": nested,
    "killed": fail_over(signal.SIGKILL),
    "ended": fail_over(signal.SIGTERM),
}


async def main(name: str, count: int, engines: int, url: str | None) -> None:
    """Measure, and print the figures."""
    async with process(url, drives=False) as (opened, _, service):
        crew = Crew(opened, service, url)
        try:
            for _ in range(engines):
                await crew.add()
            print_json(await MEASUREMENTS[name](crew, count))
        finally:
            await crew.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.engines", description=__doc__)
    parser.add_argument("name", metavar="MEASUREMENT", choices=[*MEASUREMENTS, "drive"])
    parser.add_argument("count", metavar="COUNT", type=int, nargs="?", default=1)
    parser.add_argument("--engines", type=int, default=2)
    add_option(parser)
    given = parser.parse_args()
    with loading():
        built_in()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if given.name == "drive":
            runner.run(drive(given.database))
        else:
            where = given.database or (PRIVATE if given.engines else None)
            with empty_database(where) as url:
                runner.run(main(given.name, given.count, given.engines, url))
