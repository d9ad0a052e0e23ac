"""Transactions, and faults of the database: conflicts, errors and missing responses.

A conflict is retried. A fault that may pass is raised as StoreError, and a mistake in a statement
or a value as it is. A request waits a few seconds for the database; background work waits as long
as it takes.

A transaction may register a statement for after its commit, such as a notification.
"""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreError
from stoker.kernel.logs.log import Log
from stoker.kernel.request_scope import in_request
from stoker.store.sql.postgresql import is_conflict

log = Log(__name__)
Result = TypeVar("Result")

_ATTEMPTS = 10
_PAUSE = 0.05  # seconds after a conflict


def in_transaction(database: sa.Engine, work: Callable[[sa.Connection], Result]) -> Result:
    """Return the result of work in a transaction of its own.

    The work is retried after a conflict with another transaction, and once after its connection
    broke before the commit. Faults of the database are raised as StoreError.
    """
    for attempt in range(_ATTEMPTS):
        done = False
        with database_faults():
            try:
                with database.connect() as connection:
                    connection.info.pop(_AFTER_COMMIT, None)
                    with connection.begin():
                        result = work(connection)
                        done = True
                    _run_after_commit(connection)
                return result
            except sa.exc.DBAPIError as error:
                broken = error.connection_invalidated and not done and attempt == 0
                if attempt + 1 == _ATTEMPTS or not (broken or is_conflict(error)):
                    raise
        # Let the other transaction finish first; without a pause they may conflict again.
        time.sleep(_PAUSE)
    raise AssertionError


AfterCommit = Callable[[sa.Connection], None]
_AFTER_COMMIT = "stoker_after_commit"


def after_commit(connection: sa.Connection, work: AfterCommit) -> None:
    """Execute one statement when the transaction of :func:`in_transaction` has committed.

    It is executed at most once: not after a rollback, a lost response to the commit, or the death
    of this process.
    """
    connection.info.setdefault(_AFTER_COMMIT, []).append(work)


def _run_after_commit(connection: sa.Connection) -> None:
    """Run the registered work. The transaction has succeeded, so faults are only logged."""
    works: list[AfterCommit] = connection.info.pop(_AFTER_COMMIT, [])
    if not works:
        return
    try:
        # A single statement needs no round trips for a transaction.
        connection.execution_options(isolation_level="AUTOCOMMIT")
        for work in works:
            work(connection)
    except (sa.exc.SQLAlchemyError, OSError) as error:
        log.warning("not done after a commit", reason=str(error).partition("\n")[0])


# Codes of SQLite that the statement did not cause: the same one may succeed later.
_PASSING_CODES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOTADB,
    }
)


@contextmanager
def database_faults() -> Iterator[None]:
    """Raise faults of the database as :class:`stoker.engine.model.interfaces.StoreError`."""
    try:
        yield
    except (sa.exc.DBAPIError, sa.exc.TimeoutError, sqlite3.Error, OSError) as error:
        if not _is_passing(error):
            raise
        first = str(error).partition("\n")[0][:300]
        reason, is_full = f"the database failed: {first}", _is_full(error)
        raise StoreError(reason, passing=True, is_full=is_full) from error


_DISK_FULL = "53100"  # SQLSTATE of PostgreSQL


def _is_full(error: Exception) -> bool:
    """Return whether the disk of the database is full."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return (
        (code is not None and (code & 0xFF) == sqlite3.SQLITE_FULL)
        or getattr(cause, "sqlstate", None) == _DISK_FULL
        or (isinstance(cause, OSError) and cause.errno == errno.ENOSPC)
    )


def _is_passing(error: Exception) -> bool:
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    # SQLite reports mistakes in a statement as "operational", too; its code distinguishes them.
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        return (code & 0xFF) in _PASSING_CODES
    if not isinstance(error, sa.exc.DBAPIError):
        return True
    return error.connection_invalidated or isinstance(
        error, sa.exc.OperationalError | sa.exc.InterfaceError | sa.exc.InternalError
    )


PATIENCE = 5.0  # seconds that a request waits for the database


class DatabaseTimeoutError(StoreError):
    """The database did not respond in time for a request."""


async def in_time(answer: Awaitable[Result]) -> Result:
    """Return the response of the database.

    Raises :class:`DatabaseTimeoutError` if a request waits too long. Background work waits without
    a limit.
    """
    if not in_request():
        return await answer
    try:
        async with asyncio.timeout(PATIENCE):
            return await answer
    except TimeoutError:
        words = f"the database has not answered within {PATIENCE:g} s"
        raise DatabaseTimeoutError(words, passing=True) from None
