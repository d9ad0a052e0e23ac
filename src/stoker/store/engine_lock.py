"""That one engine drives the stacks of a database.

Fencing tokens keep two engines from harming each other's stacks; this keeps a second one from
beginning at all. For a file of SQLite the lock of the data directory does so. PostgreSQL has locks
of sessions: the server takes one back when its session ends, however it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import time

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreFault
from stoker.kernel.log import Log
from stoker.store.faults import database_faults
from stoker.store.foreign import UnusableDatabase
from stoker.store.postgresql import SPACE, Lock, place_of

log = Log(__name__)

PATIENCE = 5.0
"""Seconds for which an engine that has just ended may still have the lock."""
EVERY = 5.0
"""Seconds between two looks at whether the lock is still ours."""
_LOCK = sa.select(sa.func.pg_try_advisory_lock(SPACE, Lock.ENGINE.value))
_HOLDER = sa.text(
    "SELECT application_name, client_addr FROM pg_stat_activity JOIN pg_locks USING (pid)"
    " WHERE locktype = 'advisory' AND classid = :space AND objid = :lock AND granted"
).bindparams(space=SPACE, lock=Lock.ENGINE.value)


class EngineLock:
    """The lock of one process. All methods may be called for any database."""

    def __init__(self, database: sa.Engine) -> None:
        self._database = database
        self._connection: sa.Connection | None = None

    @property
    def _is_needed(self) -> bool:
        return self._database.dialect.name == "postgresql"

    def acquire(self, patience: float = PATIENCE) -> None:
        """Take the lock. Raises :class:`UnusableDatabase` where another engine keeps it."""
        deadline = time.monotonic() + patience
        while self._is_needed:
            try:
                return self._take()
            except UnusableDatabase:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)
        return None

    def hold(self) -> None:
        """Make sure that the lock is ours still, or again after its connection was lost.

        Raises UnusableDatabase where another engine has it, and StoreFault.
        """
        with database_faults():
            if self._connection is not None:
                try:
                    self._connection.exec_driver_sql("SELECT 1")
                except sa.exc.DBAPIError:
                    self.release()
                else:
                    return
            self._take()
            log.warning("the connection that tells of this engine was lost, and is made anew")

    async def lost(self, every: float = EVERY) -> str:
        """Return once another engine has the lock: the reason, in words."""
        while self._is_needed:
            await asyncio.sleep(every)
            try:
                await asyncio.to_thread(self.hold)
            except StoreFault:
                continue  # nobody else can take it meanwhile
            except UnusableDatabase as taken:
                return str(taken)
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    def release(self) -> None:
        """Let others have it."""
        if self._connection is not None:
            with contextlib.suppress(sa.exc.DBAPIError):
                self._connection.close()
            self._connection = None

    def _take(self) -> None:
        """Try once."""
        connection = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()  # closed, it is not kept for others: that ends the session
        if connection.execute(_LOCK).scalar_one():
            self._connection = connection
            return
        holder = connection.execute(_HOLDER).first()
        connection.close()
        name, address = holder or ("another process", None)
        raise UnusableDatabase(
            f"a service uses the database {place_of(self._database.url)} already ({name}"
            f"{f', from {address}' if address else ''}); use it or end it, or name another database"
        )
