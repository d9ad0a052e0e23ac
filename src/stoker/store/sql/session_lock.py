"""Locks of a PostgreSQL session: the server releases them when the session ends for any reason."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence

import sqlalchemy as sa

from stoker.store.sql.postgresql import SPACE, Lock
from stoker.store.sql.transactions import database_faults

_HOLDER = sa.text(
    "SELECT application_name, client_addr FROM pg_stat_activity JOIN pg_locks USING (pid)"
    " WHERE locktype = 'advisory' AND classid = :space AND objid = ANY(:locks) AND granted"
    " AND pid != pg_backend_pid()"
)


class SessionLock:
    """Locks that one process acquires together, in a session of their own.

    Methods block, and raise StoreError.
    """

    def __init__(self, database: sa.Engine, locks: Sequence[Lock], *, shared: bool = False) -> None:
        """``shared`` locks may be held by many, as long as no session has them exclusively."""
        self._database = database
        self._locks = [lock.value for lock in locks]
        functions = sa.func
        self._lock_function = (
            functions.pg_try_advisory_lock_shared if shared else functions.pg_try_advisory_lock
        )
        self._trial = (
            functions.pg_try_advisory_xact_lock_shared
            if shared
            else functions.pg_try_advisory_xact_lock
        )
        self._connection: sa.Connection | None = None
        # One thread at a time: a release waits for a thread that acquires the locks.
        self._mutex = threading.Lock()

    def is_free(self) -> bool:
        """Return whether :meth:`acquire` would succeed now.

        It needs no new session, so it is cheap for the server.
        """
        with database_faults(), self._database.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            # Each lock is released at the end of the statement.
            attempts = (self._trial(SPACE, lock) for lock in self._locks)
            return all(connection.execute(sa.select(*attempts)).one())

    def acquire(self) -> bool:
        """Try to acquire the locks. Return whether this process has them now."""
        with self._mutex, database_faults(), contextlib.ExitStack() as closing:
            connection = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
            closing.callback(connection.close)
            connection.detach()  # a detached connection ends its session when it is closed
            locks = (sa.select(self._lock_function(SPACE, lock)) for lock in self._locks)
            if not all(connection.execute(lock).scalar_one() for lock in locks):
                return False
            closing.pop_all()
            self._connection = connection
            return True

    def is_held(self) -> bool:
        """Return whether this process still has the locks."""
        with self._mutex:
            if self._connection is None:
                return False
            try:
                self._connection.exec_driver_sql("SELECT 1")
            except sa.exc.DBAPIError:
                self._disconnect()
                return False
            return True

    def holder(self) -> str:
        """Return a description of the process that has the locks."""
        with database_faults(), self._database.connect() as connection:
            values = {"space": SPACE, "locks": self._locks}
            name, address = connection.execute(_HOLDER, values).first() or ("another process", None)
        return f"{name}, from {address}" if address else str(name)

    def release(self) -> None:
        """Release the locks."""
        with self._mutex:
            self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sa.exc.DBAPIError):
                self._connection.close()
            self._connection = None
