"""Distinguishes errors of the database from errors in the written values."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreError

# Not caused by the statement: the same one may succeed later.
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
