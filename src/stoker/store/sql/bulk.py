"""Many rows with one statement.

SQLite is in this process: it is quickest with one statement, executed for each row. A server wants
few statements: PostgreSQL is given all rows as one document.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.kernel.json_text import encode
from stoker.store.sql.compiled import Prepared, any_of

_AT_ONCE = 1000
"""Rows in one document."""


def insert(
    connection: sa.Connection,
    table: sa.Table,
    values: Sequence[dict[str, Any]],
    key: str | None = None,
    *,
    keep: Sequence[str] | None = (),
) -> None:
    """Insert the rows, or update those whose ``key`` exists, but for the columns to ``keep``; a
    ``keep`` of None leaves them as they are.
    """
    if not values:
        return
    dialect = connection.dialect
    statement = _INSERTS.get((dialect.name, table.name))
    if statement is None:
        make = _insert_documents if _is_server(dialect) else _insert_rows
        statement = make(dialect, table, list(values[0]), key, keep)
        _INSERTS[(dialect.name, table.name)] = statement
    if not _is_server(dialect):
        statement.execute(connection, *values)
        return
    if key is not None:
        values = _each_once(values, key, keep or ())
    for begin in range(0, len(values), _AT_ONCE):
        statement.execute(connection, {"rows": _document(values[begin : begin + _AT_ONCE])})


def delete(connection: sa.Connection, column: sa.Column[Any], values: Sequence[Any]) -> None:
    """Delete the rows whose column has one of the values."""
    if not values:
        return
    dialect = connection.dialect
    statement = _DELETES.get((dialect.name, column))
    if statement is None:
        which = (
            column == any_of("gone")
            if _is_server(dialect)
            else column == sa.bindparam("gone", None)
        )
        statement = Prepared(dialect, column.table.delete().where(which))
        _DELETES[(dialect.name, column)] = statement
    if _is_server(dialect):
        statement.execute(connection, {"gone": list(values)})
    else:
        statement.execute(connection, *({"gone": value} for value in values))


def _is_server(dialect: sa.Dialect) -> bool:
    return dialect.name == "postgresql"


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
    # loading the dialect of another database would take 25 ms of every start
    return importlib.import_module(f"sqlalchemy.dialects.{dialect.name}").insert(table)


def _or_update(
    statement: Any, names: Sequence[str], key: str | None, keep: Sequence[str] | None
) -> Any:
    """The statement, which does so where there is a row of the key already."""
    if key is None:
        return statement
    if keep is None:
        return statement.on_conflict_do_nothing(index_elements=[key])
    changed = {name: statement.excluded[name] for name in names if name not in (key, *keep)}
    return statement.on_conflict_do_update(index_elements=[key], set_=changed)


def _each_once(
    values: Sequence[dict[str, Any]], key: str, keep: Sequence[str]
) -> Sequence[dict[str, Any]]:
    """The rows as they are after all of them: one statement may change a row only once."""
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


_NOT_STORABLE = ("\\u0000", '":NaN', '":Infinity', '":-Infinity')
"""What PostgreSQL refuses in a document."""


def _storable(value: Any) -> Any:
    """Return a value as PostgreSQL can store it: texts without NUL, numbers as JSON has them."""
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return repr(value) if isinstance(value, float) else value


_INSERTS: dict[tuple[str, str], Prepared] = {}
"""By dialect and table."""
_DELETES: dict[tuple[str, sa.Column[Any]], Prepared] = {}
"""By dialect and column."""
