"""Detects that the file of a database was removed or replaced while it is in use.

SQLite continues with the file that it has opened: every request would succeed, and its changes
would be lost at the next start. Each transaction compares the file at the path with the one that
was opened first, and fails like one without a database, until the file is back.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import sqlalchemy as sa


def watch(engine: sa.Engine, path: Path) -> None:
    """Make all transactions of an engine fail while another file, or none, is at the path."""
    opened: list[tuple[int, int]] = []

    def note(_connection: object, _record: object) -> None:
        found = _identity(path)
        if not opened and found is not None:
            opened.append(found)

    def require(_connection: sa.Connection) -> None:
        if not opened or _identity(path) == opened[0]:
            return
        error = sqlite3.OperationalError(
            f"the database file {path} was removed or replaced while the service runs; bring it"
            " back, or stop the service and restore a backup"
        )
        error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED
        raise sa.exc.OperationalError("BEGIN", None, error)

    sa.event.listen(engine, "connect", note)
    sa.event.listen(engine, "begin", require)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
