"""Copies a database into an empty one, perhaps of another kind: completely or not at all.

Encrypted texts are copied unchanged; the keys are not copied.
"""

from __future__ import annotations

import contextlib

import sqlalchemy as sa

from stoker.store.ownership.engine_lock import EngineLock
from stoker.store.schema import tables
from stoker.store.sql.databases import SCHEMA_MARK, engine_for, of_one_moment, open_database
from stoker.store.sql.foreign import UnusableDatabaseError
from stoker.store.sql.postgresql import Lock, let_rest, lock, place_of, telling_where
from stoker.store.sql.transactions import database_faults

_AT_ONCE = 100  # rows in memory
_DOCUMENTS_AT_ONCE = 4  # rows of contents, which may be long
# Rows of users, for tables that have other rows even in a new database.
_ROWS_OF_USERS = {tables.marks: sa.select(tables.marks).where(tables.marks.c.name != SCHEMA_MARK)}


def copy(source: sa.URL, target: str) -> int:
    """Copy all rows of a database of this release; return their number.

    Raises :class:`UnusableDatabaseError` if the target has rows, or if a service uses one of the
    two.
    """
    with contextlib.ExitStack() as closing:
        into = open_database(target)
        closing.callback(into.dispose)
        out_of = engine_for(source)
        closing.callback(out_of.dispose)
        for database in (out_of, into):
            own = EngineLock(database)
            own.acquire(patience=0)
            closing.callback(own.release)
        closing.enter_context(database_faults())
        closing.enter_context(telling_where(into.url))
        with of_one_moment(out_of).connect() as reading, into.begin() as writing:
            for connection in (reading, writing):
                let_rest(connection)  # each waits while the other one works
            lock(writing, Lock.SCHEMA)
            _require_empty(writing, into.url)
            writing.execute(tables.marks.delete())  # the source has its own
            return sum(_copy(table, reading, writing) for table in tables.metadata.sorted_tables)


def _require_empty(connection: sa.Connection, url: sa.URL) -> None:
    filled = [
        table.name
        for table in tables.metadata.sorted_tables
        if connection.execute(_ROWS_OF_USERS.get(table, sa.select(table)).limit(1)).first()
    ]
    if filled:
        place = url.database if url.get_backend_name() == "sqlite" else place_of(url)
        raise UnusableDatabaseError(
            f"the database {place} has rows already (in {', '.join(filled[:3])}); name an empty one"
        )


def _copy(table: sa.Table, reading: sa.Connection, writing: sa.Connection) -> int:
    at_once = _DOCUMENTS_AT_ONCE if table is tables.contents else _AT_ONCE
    names = [column.key for column in table.columns]
    found = reading.execute(sa.select(table), execution_options={"yield_per": at_once})
    count = 0
    for some in found.partitions():
        writing.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in some])
        count += len(some)
    if writing.dialect.name == "postgresql" and table.autoincrement_column is not None:
        _go_on_counting(table, table.autoincrement_column, writing)
    return count


def _go_on_counting(table: sa.Table, column: sa.Column[int], connection: sa.Connection) -> None:
    """Set the next number to one that no row has."""
    sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
    last = sa.func.max(column)
    connection.execute(
        sa.select(sa.func.setval(sequence, sa.func.greatest(last, 1))).having(last.is_not(None))
    )
