"""``python -m bench.scale``: times queries and steps of background work in a large installation.

It fills a PostgreSQL of its own with a million resources and ten million events, which takes some
minutes and 12 GB of disk. ``--resources`` and ``--events`` make it smaller. ``--database`` names an
empty database elsewhere, or one that was filled before.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from bench.database import PRIVATE, empty_database
from bench.filling import DAY, LARGE, Size, fill
from bench.report import Row, table
from stoker.engine.model.interfaces import OwnerChange, PublicChange
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Stack, Status
from stoker.engine.model.requests import EventQuery, Page, StackQuery
from stoker.kernel.values import replace
from stoker.store.ownership.fair_share import FairShares
from stoker.store.ownership.turns import SqlTurns
from stoker.store.schema import tables
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore

KEY = b"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
TIMES = 15
TARGET = 0.1  # seconds, for the median
Work = Callable[[int], Awaitable[object]]  # runs a query; the number selects a stack


class Installation:
    """The store of one process on a filled database."""

    def __init__(self, database: sa.Engine) -> None:
        self.database = database
        runner = ThreadRunner()
        cipher = ColumnCipher(KEY)
        self.store = SqlStore(database, cipher, runner)
        self.turns = SqlTurns(database, runner, FairShares(), "bench")
        self.now = time.time()
        with database.connect() as connection:
            self.stacks = int(
                connection.execute(sa.select(sa.func.count(tables.stacks.c.id))).scalar_one()
            )
            worker = "SELECT id FROM procrastinate_workers LIMIT 1"
            make = "INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id"
            found = connection.exec_driver_sql(worker).scalar()
            self.worker = found or connection.exec_driver_sql(make).scalar_one()
            connection.commit()

    def at(self, n: int, kind: int = 6) -> str:
        """Return the id of a stack at rest in the large project.

        ``kind`` selects stacks in another state.
        """
        number = (n * 9973 % self.stacks) // 50 * 50 + kind
        with self.database.connect() as connection:
            made = sa.text("SELECT md5('s' || CAST(:n AS text))::uuid::text")
            return str(connection.execute(made, {"n": str(number)}).scalar_one())

    def read(self, statement: str, **values: Any) -> Work:
        """Return a query that runs a statement of the job queue and rolls it back."""

        async def ask(_: int) -> None:
            def look() -> None:
                with self.database.connect() as connection:
                    connection.execute(sa.text(statement), values).all()

            await asyncio.to_thread(look)

        return ask


def questions(here: Installation) -> Mapping[str, Work]:
    """Return the queries of users and clients."""
    store = here.store
    ids = [here.at(n) for n in range(TIMES)]
    page = StackQuery(page=Page(limit=100))

    def listed(project: str | None = LARGE, **how: Any) -> Work:
        return lambda n: store.stacks(project, replace(page, **how))

    def after(n: int) -> StackQuery:
        return StackQuery(page=Page(limit=100, marker=ids[n]))

    def events(**how: Any) -> Work:
        return lambda n: store.events([ids[n]], EventQuery(page=Page(limit=100, **how)))

    return {
        "list 100 stacks of the large project": listed(),
        "list 100 stacks after a marker": lambda n: store.stacks(LARGE, after(n)),
        "list 100 stacks by name": listed(page=Page(limit=100, sort_keys=("stack_name",))),
        "list the stacks with a tag": listed(tags=("blue",)),
        "list the stacks that failed": listed(filters={"status": ("FAILED",)}),
        "list the stacks with an object": lambda n: store.stacks(
            LARGE, replace(page, with_object=f"none-{n}", show_nested=True)
        ),
        "count the stacks of the large project": lambda n: store.count_stacks(LARGE, StackQuery()),
        "list 100 stacks of all projects": listed(None, all_projects=True),
        "show a stack": lambda n: store.stack(ids[n]),
        "find a stack by name": lambda n: store.find_stack(LARGE, f"stack-{n * 50}"),
        "find a stack by name in all projects": lambda n: store.find_stack(None, f"stack-{n * 50}"),
        "what a stack was made of": lambda n: store.input(_input_of(here, ids[n])),
        "list the resources of a stack": lambda n: store.resources(ids[n]),
        "list the nested stacks": lambda n: store.children(here.at(n, 0)),
        "a tree as it stands": lambda n: store.tree(here.at(n, 0)),
        "count the resources of a tree": lambda n: store.count_resources(here.at(n, 0), ""),
        "list 100 events of a stack, newest first": events(descending=True),
        "list 100 events of a stack, oldest first": events(),
        "the resources that stand for an object": lambda n: store.resources_of_object(
            LARGE, f"none-{n}"
        ),
        "the deployments of a server": lambda n: store.list_deployments(LARGE, f"none-{n}", Page()),
    }


def _input_of(here: Installation, stack_id: str) -> str:
    with here.database.connect() as connection:
        select = sa.select(tables.stacks.c.input_id).where(tables.stacks.c.id == stack_id)
        return str(connection.execute(select).scalar_one())


def work(here: Installation) -> Mapping[str, Work]:
    """Return the queries and writes of the service other than the work on stacks."""
    store, now = here.store, here.now

    async def create(_: int) -> None:
        stack = Stack(
            str(uuid4()), LARGE, f"new-{uuid4()}", Action.CREATE, Status.IN_PROGRESS, "", now, "i"
        )
        made = Operation(str(uuid4()), stack.id, Action.CREATE, now)
        await store.commit(PublicChange(stack.id, puts=(stack, made)))

    async def progress(n: int) -> None:
        begun = Operation(str(uuid4()), here.at(n), Action.UPDATE, now)
        await store.commit(PublicChange(begun.stack_id, puts=(begun,)))
        taken = await store.acquire(begun.stack_id)
        assert taken is not None
        stack = taken.stack
        rows = await store.resources(stack.id)
        told = tuple(
            Event(str(uuid4()), stack.id, now, Action.UPDATE, Status.COMPLETE, "", row.name, "T")
            for row in rows
        )
        token = stack.fencing_token
        ended = replace(begun, status=OperationStatus.COMPLETE)
        await store.commit(OwnerChange(stack.id, token, puts=(*rows, ended, *told)))

    return {
        "accept a create": create,
        "take a stack, read and write its 20 resources, with events": progress,
        "tidy a stack": lambda n: store.tidy(here.at(n), 100),
        "purge deleted stacks, one bite": lambda n: store.purge_stacks(now - 30 * DAY),
        "purge events and operations, one bite": lambda n: store.purge_history(now - 360 * DAY),
        "look for what there is to purge": lambda n: store.purge_stacks(now - 1000 * DAY),
        "fetch a turn": here.read(
            "SELECT id FROM procrastinate_fetch_job_v2(ARRAY['stoker'], :worker)",
            worker=here.worker,
        ),
        "look for stacks that nobody drives": lambda n: here.turns.not_driven(),
        "count the turns that are due": lambda n: here.turns.due(),
        "count the open operations": lambda n: here.store.open_operations(),
        "size of the database": lambda n: here.store.database_size(),
    }


async def timed(name: str, do: Work) -> Row:
    """Return the median duration of a query, and the longest."""
    taken = []
    for n in range(TIMES):
        begun = time.perf_counter()
        await do(n)
        taken.append(time.perf_counter() - begun)
    slowest = f"slowest of {TIMES}: {max(taken) * 1000:,.0f} ms"
    return Row(name, statistics.median(taken), TARGET, "ms", slowest)


async def measure(here: Installation) -> list[Row]:
    """Run all queries sequentially."""
    both = {**questions(here), **work(here)}
    return [await timed(name, do) for name, do in both.items()]


def sizes(database: sa.Engine) -> list[str]:
    """Return the sizes of the largest tables and their indexes."""
    select = sa.text(
        "SELECT relname, n_live_tup, pg_size_pretty(pg_table_size(relid)),"
        " pg_size_pretty(pg_indexes_size(relid)) FROM pg_stat_user_tables"
        " ORDER BY pg_total_relation_size(relid) DESC LIMIT 8"
    )
    with database.connect() as connection:
        found = connection.execute(select).all()
    return [f"{name}: {rows:,} rows, {size}, indexes {more}" for name, rows, size, more in found]


def main() -> None:
    """Fill, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resources", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument(
        "--database", metavar="URL", help="it is filled where it is empty, and kept"
    )
    options = parser.parse_args()
    if options.database:
        run(options.database, Size(options.resources, options.events))
    else:
        with empty_database(PRIVATE) as url:
            assert url is not None
            run(url, Size(options.resources, options.events))


def run(url: str, size: Size) -> None:
    """Measure a database; fill it first if it is empty."""
    database = open_database(url)
    with database.connect() as connection:
        is_filled = connection.execute(sa.select(tables.stacks.c.id).limit(1)).first()
    if not is_filled:
        for name, seconds in fill(database, ColumnCipher(KEY), size).items():
            print(f"filled {name}: {seconds:,.1f} s", flush=True)
    here = Installation(database)
    print("\n".join(sizes(database)), flush=True)
    print(table(asyncio.run(measure(here))))


if __name__ == "__main__":
    main()
