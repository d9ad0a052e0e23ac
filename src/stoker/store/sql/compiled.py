"""Statements that are executed for every change, compiled once to text.

SQLAlchemy would process a statement and each of its values each time, which takes longer than the
execution.

SQLite runs in this process: it is fastest with one statement, executed for each row. A server is
fastest with few statements: PostgreSQL gets all rows as one document, and values as one list.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from stoker.kernel.json.text import encode

_SERVER = "postgresql"
_ROWS_AT_ONCE = 1000  # rows in one document


class Prepared:
    """A statement for one dialect. ``names`` are the columns of an insert."""

    def __init__(
        self, dialect: sa.Dialect, statement: Any, names: Sequence[str] | None = None
    ) -> None:
        compiled = statement.compile(
            dialect=dialect, column_keys=names, compile_kwargs={"render_postcompile": True}
        )
        self.text = str(compiled)
        self._order: Sequence[str] | None = compiled.positiontup
        self._values_of = itemgetter(*self._order) if self._order else None
        parameters = frozenset(names or ())
        self._own = {
            name: own
            for name, own in compiled.params.items()
            if own is not None and name not in parameters
        }
        self._columns: tuple[str, ...] | None = None

    def execute(self, connection: sa.Connection, *values: Mapping[str, Any]) -> Any:
        """Execute the statement with these values, once with each, and return the result."""
        complete: Iterable[Any] = values
        if self._own:
            complete = ({**self._own, **row} for row in values)
        rows: list[Any]
        # Without comprehensions: this runs for each row of each commit.
        if self._order is None:
            rows = list(map(dict, complete))
        elif self._values_of is None:
            rows = [()]
        elif len(self._order) == 1:
            rows = list(zip(map(self._values_of, complete), strict=False))
        else:
            rows = list(map(self._values_of, complete))
        return connection.exec_driver_sql(self.text, rows)

    def rows(self, connection: sa.Connection, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Execute the statement and return its rows as the driver gives them."""
        result = self.execute(connection, values)
        if self._columns is None:
            self._columns = tuple(result.keys())
        return list(map(dict, map(zip, repeat(self._columns), result.fetchall())))


_PREPARED: dict[tuple[str, Any], Prepared] = {}


def prepared(connection: sa.Connection, statement: Any) -> Prepared:
    """Return the compiled form of a statement, from a cache.

    The statement must be the same object each time. Its parameters have a default of None.
    """
    key = connection.dialect.name, statement
    if key not in _PREPARED:
        _PREPARED[key] = Prepared(connection.dialect, statement)
    return _PREPARED[key]


def found(connection: sa.Connection, statement: Any, **values: Any) -> list[dict[str, Any]]:
    """Return the rows of a prepared statement, as the driver returns them.

    SQLite has no booleans.
    """
    return prepared(connection, statement).rows(connection, values)


def any_of(name: str) -> Any:
    """Return an expression for any value of a list parameter. PostgreSQL only."""
    return sa.any_(sa.bindparam(name, None, sa.ARRAY(sa.Text)))


_AT_ONCE = 128  # values that one statement asks SQLite for
_NAMES = tuple(f"value{number}" for number in range(_AT_ONCE))


class InList:
    """A statement for rows whose column has one of many values.

    A server gets them as one list. With a parameter for each, planning the statement would take
    longer than finding the rows, and the driver would name the parameters each time. SQLite has no
    lists.
    """

    def __init__(self, statement: sa.Select[Any], column: sa.Column[Any]) -> None:
        self._statement = statement
        self._column = column
        self._of_list = statement.where(column == any_of("values"))
        self._of_group: dict[int, Prepared] = {}  # by the number of values, for SQLite

    def find(
        self, connection: sa.Connection, values: Collection[str], **others: Any
    ) -> list[dict[str, Any]]:
        """Return the rows that have one of the values.

        ``others`` are the statement's own parameters. The rows have the order of the statement,
        on SQLite within each group of values.
        """
        keys = sorted(values)
        if not keys:
            return []
        dialect = connection.dialect
        if dialect.name != "sqlite":
            return found(connection, self._of_list, values=keys, **others)
        rows: list[dict[str, Any]] = []
        for begin in range(0, len(keys), _AT_ONCE):
            some = keys[begin : begin + _AT_ONCE]
            # Few sizes of groups need few statements; a group is filled up with its last value.
            size = 1 << (len(some) - 1).bit_length()
            some += some[-1:] * (size - len(some))
            statement = self._of_group.get(size) or self._prepare(dialect, size)
            rows += statement.rows(connection, {**others, **dict(zip(_NAMES, some, strict=False))})
        return rows

    def _prepare(self, dialect: sa.Dialect, size: int) -> Prepared:
        column = self._column
        names = [sa.bindparam(name, None, column.type) for name in _NAMES[:size]]
        statement = Prepared(dialect, self._statement.where(column.in_(names)))
        self._of_group[size] = statement
        return statement


class RowsOf:
    """Rows of many owners, found in one statement for several of them.

    The statement selects the column with the owner of a row.
    """

    def __init__(self, statement: sa.Select[Any], owner: sa.Column[Any]) -> None:
        self._among = InList(statement, owner)
        self._owner = owner.name

    def find(
        self, connection: sa.Connection, owners: Collection[str]
    ) -> dict[str, list[Mapping[str, Any]]]:
        """Return the rows of each owner, in the order of the statement."""
        rows: dict[str, list[Mapping[str, Any]]] = {owner: [] for owner in owners}
        for row in self._among.find(connection, rows):
            rows[row[self._owner]].append(row)
        return rows


class Insert:
    """The statement that inserts rows into a table, compiled once for each dialect.

    A row with the ``key`` of an existing row updates it, except the columns in ``keep``; a ``keep``
    of None leaves existing rows as they are. All rows have the same columns.
    """

    def __init__(
        self, table: sa.Table, key: str | None = None, *, keep: Sequence[str] | None = ()
    ) -> None:
        self.table = table
        self._key = key
        self._keep = keep
        self._prepared: dict[str, Prepared] = {}  # by dialect

    def execute(self, connection: sa.Connection, values: Sequence[dict[str, Any]]) -> None:
        """Insert or update the rows."""
        if not values:
            return
        statement = self._statement(connection.dialect, values)
        if connection.dialect.name != _SERVER:
            statement.execute(connection, *values)
            return
        values = self._once(values)
        for begin in range(0, len(values), _ROWS_AT_ONCE):
            some = values[begin : begin + _ROWS_AT_ONCE]
            statement.execute(connection, {"rows": _document(some)})

    def part(
        self, dialect: sa.Dialect, values: Sequence[dict[str, Any]], name: str
    ) -> tuple[str, str]:
        """Return the text of the statement for a server, and the document with the rows.

        ``name`` is that of the parameter for the document.
        """
        statement = self._statement(dialect, values)
        return statement.text.replace("%(rows)s", f"%({name})s"), _document(self._once(values))

    def _once(self, values: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        return values if self._key is None else _each_once(values, self._key, self._keep or ())

    def _statement(self, dialect: sa.Dialect, values: Sequence[dict[str, Any]]) -> Prepared:
        statement = self._prepared.get(dialect.name)
        if statement is None:
            prepare = _insert_documents if dialect.name == _SERVER else _insert_rows
            statement = prepare(dialect, self.table, list(values[0]), self._key, self._keep)
            self._prepared[dialect.name] = statement
        return statement


class Inserts:
    """The inserts of a transaction. A server gets those into different tables in one statement.

    Each statement costs a round trip, and as much time as some rows.
    """

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection
        self._waiting: dict[sa.Table, tuple[Insert, Sequence[dict[str, Any]]]] = {}

    def add(self, insert: Insert, values: Sequence[dict[str, Any]]) -> None:
        """Insert or update rows now, or with the next :meth:`flush`."""
        if self.connection.dialect.name != _SERVER or len(values) > _ROWS_AT_ONCE:
            self.flush()
            insert.execute(self.connection, values)
        elif values:
            # One statement may change a row only once.
            if insert.table in self._waiting:
                self.flush()
            self._waiting[insert.table] = insert, values

    def flush(self) -> None:
        """Execute the inserts that wait."""
        waiting, self._waiting = list(self._waiting.values()), {}
        if len(waiting) == 1:
            [(insert, values)] = waiting
            insert.execute(self.connection, values)
        elif waiting:
            dialect, texts, documents = self.connection.dialect, [], {}
            for number, (insert, values) in enumerate(waiting):
                text, documents[f"rows{number}"] = insert.part(dialect, values, f"rows{number}")
                texts.append(f"part{number} AS ({text})")
            # PostgreSQL executes the last part first (seen with version 15, not documented). The
            # order matters only for locks: other orders are correct, but may deadlock.
            together = f"WITH {', '.join(reversed(texts))} SELECT 1"
            self.connection.exec_driver_sql(together, documents).close()


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
    statement = _or_update(insert_into(dialect, table), names, key, keep)
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
    statement = insert_into(dialect, table).from_select(into, source, include_defaults=False)
    return Prepared(dialect, _or_update(statement, names, key, keep))


def insert_into(dialect: sa.Dialect, table: sa.Table) -> Any:
    """Return an insert in the SQL of a database."""
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
