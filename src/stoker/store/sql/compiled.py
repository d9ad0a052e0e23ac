"""Statements that are executed for every change, compiled once to text.

SQLAlchemy would process a statement and each of its values each time, which takes longer than the
execution.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

import sqlalchemy as sa


class Prepared:
    """A statement for one dialect. ``names`` are the columns of an insert."""

    def __init__(
        self, dialect: sa.Dialect, statement: Any, names: Sequence[str] | None = None
    ) -> None:
        compiled = statement.compile(
            dialect=dialect, column_keys=names, compile_kwargs={"render_postcompile": True}
        )
        self._text = str(compiled)
        self._order: Sequence[str] | None = compiled.positiontup
        self._values_of = itemgetter(*self._order) if self._order else None
        given = frozenset(names or ())
        self._own = {
            name: own
            for name, own in compiled.params.items()
            if own is not None and name not in given
        }
        self._columns: tuple[str, ...] | None = None

    def execute(self, connection: sa.Connection, *values: Mapping[str, Any]) -> Any:
        """Execute the statement with these values, once with each, and return the result."""
        given: Iterable[Any] = values
        if self._own:
            given = ({**self._own, **row} for row in values)
        rows: list[Any]
        # Without comprehensions: this runs for each row of each commit.
        if self._order is None:
            rows = list(map(dict, given))
        elif self._values_of is None:
            rows = [()]
        elif len(self._order) == 1:
            rows = list(zip(map(self._values_of, given), strict=False))
        else:
            rows = list(map(self._values_of, given))
        return connection.exec_driver_sql(self._text, rows)

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
        wanted = sorted(values)
        if not wanted:
            return []
        dialect = connection.dialect
        if dialect.name != "sqlite":
            return found(connection, self._of_list, values=wanted, **others)
        rows: list[dict[str, Any]] = []
        for begin in range(0, len(wanted), _AT_ONCE):
            some = wanted[begin : begin + _AT_ONCE]
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
