"""A database of Heat, read in one transaction that sees one moment and can write nothing.

In: the URL of a MySQL, MariaDB, PostgreSQL or SQLite database. Out: rows as mappings, in batches
of a bounded number. Pages continue after the last key, so their cost does not grow.

Tested by tests/takeover/test_reader.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from stoker.kernel.extras import install_command
from stoker.takeover.errors import TakeoverError
from stoker.takeover.heat.schema import HeatSchema, schema_of

Row = Mapping[str, Any]

PAGE_ROWS = 500  # keys in one statement
_DRIVERS = {
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
    "postgresql": "postgresql+psycopg",
    "sqlite": "sqlite+pysqlite",
}
_EXTRAS = {"mysql": "takeover", "postgresql": "postgresql"}


class HeatDatabase:
    """The tables of Heat at one moment."""

    def __init__(self, connection: sa.Connection, schema: HeatSchema) -> None:
        self._connection = connection
        self._tables = schema.tables

    def has(self, table: str) -> bool:
        """Return whether the database has a table."""
        return table in self._tables

    def table(self, name: str) -> sa.TableClause:
        """Return a table."""
        return self._tables[name]

    def all(self, select: sa.Select[Any]) -> list[Row]:
        """Return the rows of a statement."""
        result = self._connection.execute(select)
        names = tuple(result.keys())
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def count(self, table: str, *conditions: sa.ColumnElement[bool]) -> int:
        """Return the number of rows that meet the conditions."""
        select = sa.select(sa.func.count()).select_from(self._tables[table]).where(*conditions)
        return int(self._connection.execute(select).scalar_one())

    def where_in(
        self, table: str, column: str, keys: Iterable[Any], *, order_by: str | None = None
    ) -> list[Row]:
        """Return the rows whose column has one of the keys."""
        found = self._tables[table]
        wanted, rows = sorted({key for key in keys if key is not None}), []
        for begin in range(0, len(wanted), PAGE_ROWS):
            some = wanted[begin : begin + PAGE_ROWS]
            rows += self.all(sa.select(found).where(found.c[column].in_(some)))
        if order_by is not None:
            rows.sort(key=lambda row: row[order_by])
        return rows

    def pages(
        self, table: str, size: int, *conditions: sa.ColumnElement[bool], after: str = ""
    ) -> Iterator[Sequence[Row]]:
        """Yield the rows of a table in the order of their ids, ``size`` at a time."""
        found = self._tables[table]
        while True:
            select = sa.select(found).where(found.c.id > after, *conditions)
            rows = self.all(select.order_by(found.c.id).limit(size))
            if rows:
                yield rows
                after = rows[-1]["id"]
            if len(rows) < size:
                return


@contextmanager
def heat_database(url: str) -> Iterator[HeatDatabase]:
    """Open a database of Heat for the block. Raise TakeoverError if it cannot be read."""
    engine = _engine(url)
    try:
        with engine.connect() as connection:
            _begin(connection)
            yield HeatDatabase(connection, schema_of(connection))
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise TakeoverError(f"the database of Heat cannot be read: {reason}") from None
    finally:
        engine.dispose()


def _engine(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (sa.exc.ArgumentError, NoSuchModuleError):
        raise TakeoverError(
            "--from is not the URL of a database; give the one of [database] connection in"
            " heat.conf, as mysql+pymysql://heat:PASSWORD@HOST/heat"
        ) from None
    if backend not in _DRIVERS:
        raise TakeoverError(
            f"--from names a {backend} database; Heat's are in MySQL, MariaDB, PostgreSQL or SQLite"
        )
    parsed = parsed.set(drivername=_DRIVERS[backend])
    if backend == "sqlite":
        parsed = parsed.set(
            database=Path(parsed.database or "").absolute().as_uri(),
            query={"mode": "ro", "uri": "true"},
        )
    try:
        return sa.create_engine(parsed, poolclass=sa.pool.NullPool)
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get(backend, "takeover")
        raise TakeoverError(
            f"the driver {missing.name} is not installed; {install_command(extra)} adds it"
        ) from None


def _begin(connection: sa.Connection) -> None:
    """Start the transaction that sees one moment."""
    statements: Mapping[str, Callable[[], object]] = {
        "mysql": lambda: _on_mysql(connection),
        "postgresql": lambda: connection.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        ),
        "sqlite": lambda: connection.exec_driver_sql("BEGIN"),
    }
    backend = connection.dialect.name
    statements["mysql" if backend == "mariadb" else backend]()


def _on_mysql(connection: sa.Connection) -> None:
    connection.exec_driver_sql("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    connection.exec_driver_sql("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
