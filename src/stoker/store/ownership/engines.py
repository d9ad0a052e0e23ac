"""The engines of a database, and the clock that all of them use."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa
from msgspec import Struct

from stoker.store.schema.tables import engines
from stoker.store.sql.databases import engine_for, for_writing
from stoker.store.sql.foreign import require_supported
from stoker.store.sql.postgresql import telling_where
from stoker.store.sql.runners import Runner, ThreadRunner
from stoker.store.sql.transactions import in_time, in_transaction

_NOW = sa.text("SELECT extract(epoch FROM clock_timestamp())")
DOWN_AFTER = 15.0  # seconds without a report after which an engine is shown as down


class EngineRecord(Struct, frozen=True):
    """The last report of an engine."""

    id: str
    host: str
    process: int
    created_at: float
    updated_at: float

    def is_up(self, now: float) -> bool:
        """Return whether it has reported recently."""
        return self.updated_at > now - DOWN_AFTER


class SqlEngines:
    """Engines in a relational database."""

    def __init__(self, engine: sa.Engine, runner: Runner) -> None:
        self._engine = for_writing(engine)
        self._runner = runner

    async def report(self, own: EngineRecord) -> None:
        """Record that the engine is up."""
        values = {
            "id": own.id,
            "host": own.host,
            "process": own.process,
            "created_at": own.created_at,
            "updated_at": own.updated_at,
        }
        mine = engines.c.id == own.id

        def write(connection: sa.Connection) -> None:
            changes = {"updated_at": own.updated_at}
            if connection.execute(engines.update().where(mine).values(changes)).rowcount == 0:
                connection.execute(engines.insert(), values)

        await self._runner.write(lambda: in_transaction(self._engine, write))

    async def leave(self, engine_id: str) -> None:
        """Delete the record of an engine that ends regularly.

        Any other engine is shown as down until it is forgotten.
        """
        await self._drop(engines.c.id == engine_id)

    async def forget(self, before: float) -> int:
        """Delete engines without a report since a time; return their number."""
        return await self._drop(engines.c.updated_at < before)

    async def _drop(self, which: sa.ColumnElement[bool]) -> int:
        delete = engines.delete().where(which)
        return await self._runner.write(
            lambda: in_transaction(
                self._engine, lambda connection: connection.execute(delete).rowcount
            )
        )

    async def all(self) -> Sequence[EngineRecord]:
        """Return all engines, the oldest first."""
        select = sa.select(engines).order_by(engines.c.created_at, engines.c.id)

        def read(connection: sa.Connection) -> list[EngineRecord]:
            return [EngineRecord(**row) for row in connection.execute(select).mappings()]

        return await in_time(self._runner.read(lambda: in_transaction(self._engine, read)))

    async def now(self) -> float:
        """Return the time of the server's clock."""
        return await self._runner.read(lambda: in_transaction(self._engine, server_time))


@contextmanager
def engines_in(url: str) -> Iterator[SqlEngines | None]:
    """Yield the engines of the database at a URL; None if only one process uses it.

    Raises UnusableDatabaseError.
    """
    parsed = require_supported(url)
    if parsed.get_backend_name() == "sqlite":
        yield None
        return
    database, runner = engine_for(parsed), ThreadRunner(1)
    try:
        with telling_where(parsed):
            shared = sa.inspect(database).has_table(engines.name)
        yield SqlEngines(database, runner) if shared else None
    finally:
        runner.close()
        database.dispose()


def server_time(connection: sa.Connection) -> float:
    """Return seconds since the epoch, by the server's clock."""
    return float(connection.execute(_NOW).scalar_one())


class ServerClock:
    """The clock of the database's server, which all engines share.

    Between two measurements, the monotonic clock of this machine counts.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = for_writing(engine)
        self._ahead = 0.0  # relative to this machine's monotonic clock

    def measure(self) -> None:
        """Read the server's clock. Blocking. Raises StoreError."""
        before = time.monotonic()
        at = in_transaction(self._engine, server_time)
        # The clock was read at some time between the request and its response.
        self._ahead = at - (before + time.monotonic()) / 2

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.monotonic() + self._ahead
