"""State that is shared by the processes of one database."""

from __future__ import annotations

import sqlalchemy as sa

from stoker.store.ownership.engines import ServerClock, SqlEngines
from stoker.store.ownership.fair_share import FairShares
from stoker.store.ownership.turns import SqlTurns
from stoker.store.sql.foreign import UnusableDatabaseError
from stoker.store.sql.postgresql import Lock, conninfo_of
from stoker.store.sql.runners import Runner
from stoker.store.sql.session_lock import SessionLock


class Members:
    """Access of one of the processes to the shared state."""

    def __init__(self, database: sa.Engine, runner: Runner, name: str) -> None:
        self._runner = runner
        self.turns = SqlTurns(database, runner, FairShares(), name)
        self.engines = SqlEngines(database, runner)
        self.clock = ServerClock(database)
        self.clock.measure()
        self.leader_lock = SessionLock(database, (Lock.DUTIES,))
        self.conninfo = conninfo_of(database.url)

    async def measure(self) -> None:
        """Read the server's clock. Raises StoreError."""
        await self._runner.read(self.clock.measure)


def require_shareable(database: sa.Engine) -> None:
    """Raise :class:`UnusableDatabaseError` for a file, which one process uses."""
    if database.dialect.name != "postgresql":
        raise UnusableDatabaseError(
            "several processes can only share a PostgreSQL database: name one with --database, or"
            ' as [database] connection, or use "stoker serve", which needs no other process'
        )
