"""Writes many rows with one statement.

SQLite runs in this process: it is fastest with one statement, executed for each row. A server is
fastest with few statements: PostgreSQL gets all rows as one document.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.kernel.json.text import encode
from stoker.store.sql.compiled import Prepared, any_of, prepared

_SERVER = "postgresql"
_AT_ONCE = 1000  # rows in one document


class Insert:
    """The statement that inserts rows into a table, compiled once for each dialect.

    A row with the ``key`` of an existing row updates it, except the columns in ``keep``; a ``keep``
    of None leaves existing rows as they are. All rows have the same columns.
    """

    def __init__(
        self, table: sa.Table, key: str | None = None, *, keep: Sequence[str] | None = ()
    ) -> None:
        self._table = table
        self._key = key
        self._keep = keep
        self._prepared: dict[str, Prepared] = {}  # by dialect

    def execute(self, connection: sa.Connection, values: Sequence[dict[str, Any]]) -> None:
        """Insert or update the rows."""
        if not values:
            return
        dialect = connection.dialect
        statement = self._prepared.get(dialect.name)
        if statement is None:
            statement = self._prepared[dialect.name] = self._prepare(dialect, list(values[0]))
        if dialect.name != _SERVER:
            statement.execute(connection, *values)
            return
        if self._key is not None:
            values = _each_once(values, self._key, self._keep or ())
        for begin in range(0, len(values), _AT_ONCE):
            statement.execute(connection, {"rows": _document(values[begin : begin + _AT_ONCE])})

    def _prepare(self, dialect: sa.Dialect, names: Sequence[str]) -> Prepared:
        prepare = _insert_documents if dialect.name == _SERVER else _insert_rows
        return prepare(dialect, self._table, names, self._key, self._keep)


class Delete:
    """The statement that deletes the rows whose column has one of some values.

    Rows whose value is in the column ``unless_in`` of another table stay.
    """

    def __init__(self, column: sa.Column[Any], unless_in: sa.Column[Any] | None = None) -> None:
        self._column = column
        self._unless_in = unless_in
        self._prepared: dict[str, Prepared] = {}  # by dialect

    def execute(self, connection: sa.Connection, values: Sequence[Any]) -> None:
        """Delete the rows."""
        dialect = connection.dialect
        statement = self._prepared.get(dialect.name)
        if statement is None:
            statement = self._prepared[dialect.name] = self._prepare(dialect)
        if dialect.name == _SERVER:
            statement.execute(connection, {"gone": list(values)})
        else:
            statement.execute(connection, *({"gone": value} for value in values))

    def _prepare(self, dialect: sa.Dialect) -> Prepared:
        is_server = dialect.name == _SERVER
        gone = any_of("gone") if is_server else sa.bindparam("gone", None)
        statement = self._column.table.delete().where(self._column == gone)
        if self._unless_in is not None:
            statement = statement.where(self._column.not_in(sa.select(self._unless_in)))
        return Prepared(dialect, statement)


class Trim:
    """The statement that deletes all but the newest rows with the same value of a column."""

    def __init__(self, column: sa.Column[Any], kept: int) -> None:
        number = column.table.c.number
        same = column == sa.bindparam("value", None)
        newest_old = (
            sa.select(number)
            .where(same)
            .order_by(number.desc())
            .offset(kept)
            .limit(1)
            .scalar_subquery()
        )
        self._statement = column.table.delete().where(same, number <= newest_old)

    def execute(self, connection: sa.Connection, values: Iterable[Any]) -> None:
        """Trim the rows of each of these values."""
        statement = prepared(connection, self._statement)
        for value in values:
            statement.execute(connection, {"value": value})


def _insert_rows(
    dialect: sa.Dialect,
    table: sa.Table,
    names: Sequence[str],
    key: str | None,
    keep: Sequence[str] | None,
) -> Prepared:
    """Return the statement that is executed for each row."""
    statement = _or_update(_insert_into(dialect, table), names, key, keep)
    return Prepared(dialect, statement, names)


def _insert_documents(
    dialect: sa.Dialect,
    table: sa.Table,
    names: Sequence[str],
    key: str | None,
    keep: Sequence[str] | None,
) -> Prepared:
    """Return the statement that inserts many rows from one JSON document.

    Client and server together take a third of the time of single statements.
    """
    document = sa.cast(sa.bindparam("rows", None, sa.Text), sa.JSON)
    columns: Any = [sa.column(name, table.c[name].type) for name in names]
    given = sa.func.json_to_recordset(document).table_valued(*columns)
    source = sa.select(*given.render_derived("given", with_types=True).c)
    into = [table.c[name] for name in names]
    statement = _insert_into(dialect, table).from_select(into, source, include_defaults=False)
    return Prepared(dialect, _or_update(statement, names, key, keep))


def _insert_into(dialect: sa.Dialect, table: sa.Table) -> Any:
    # Importing both dialects would add 25 ms to every start.
    return importlib.import_module(f"sqlalchemy.dialects.{dialect.name}").insert(table)


def _or_update(
    statement: Any, names: Sequence[str], key: str | None, keep: Sequence[str] | None
) -> Any:
    """Return the statement with an update, or no effect, for rows whose key exists."""
    if key is None:
        return statement
    if keep is None:
        return statement.on_conflict_do_nothing(index_elements=[key])
    changed = {name: statement.excluded[name] for name in names if name not in (key, *keep)}
    return statement.on_conflict_do_update(index_elements=[key], set_=changed)


def _each_once(
    values: Sequence[dict[str, Any]], key: str, keep: Sequence[str]
) -> Sequence[dict[str, Any]]:
    """Merge rows of the same key: one statement may change a row only once."""
    latest: dict[Any, dict[str, Any]] = {}
    for row in values:
        before = latest.get(row[key])
        kept = {} if before is None else {name: before[name] for name in keep}
        latest[row[key]] = {**row, **kept} if kept else row
    return list(latest.values())


def _document(values: Sequence[Mapping[str, Any]]) -> str:
    rows = encode(values)
    if any(mark in rows for mark in _NOT_STORABLE):
        rows = encode([{name: _storable(value) for name, value in row.items()} for row in values])
    return rows


# Parts of a document that PostgreSQL rejects.
_NOT_STORABLE = ("\\u0000", '":NaN', '":Infinity', '":-Infinity')


def _storable(value: Any) -> Any:
    """Return a value as PostgreSQL can store it: texts without NUL, numbers as JSON has them."""
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return repr(value) if isinstance(value, float) else value
