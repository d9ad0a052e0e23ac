"""Statements that are executed for every change, as text that was compiled once.

SQLAlchemy processes a statement and each of its values again each time, which takes longer than the
execution.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
        given = frozenset(names or ())
        self._own = {
            name: own
            for name, own in compiled.params.items()
            if own is not None and name not in given
        }

    def execute(self, connection: sa.Connection, *values: Mapping[str, Any]) -> Any:
        """The result of executing it with these values, once with each if there are several."""
        given: Iterable[Any] = values
        if self._own:
            given = ({**self._own, **row} for row in values)
        order = self._order
        if order is None:
            return connection.exec_driver_sql(self._text, list(map(dict, given)))
        rows = [tuple(map(row.__getitem__, order)) for row in given]
        return connection.exec_driver_sql(self._text, rows)


_PREPARED: dict[tuple[str, Any], Prepared] = {}


def prepared(connection: sa.Connection, statement: Any) -> Prepared:
    """A statement that is always the same object; its parameters have a default of None."""
    key = connection.dialect.name, statement
    if key not in _PREPARED:
        _PREPARED[key] = Prepared(connection.dialect, statement)
    return _PREPARED[key]


def found(connection: sa.Connection, statement: Any, **values: Any) -> list[Mapping[str, Any]]:
    """The rows of such a statement, as the driver gives them: SQLite has no booleans."""
    result = prepared(connection, statement).execute(connection, values)
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def any_of(name: str) -> Any:
    """For PostgreSQL: any value of a list of texts, a parameter with this name."""
    return sa.any_(sa.bindparam(name, None, sa.ARRAY(sa.Text)))


_AT_ONCE = 128
"""Values that one statement asks SQLite for."""


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
        self._of_group: dict[int, sa.Select[Any]] = {}

    def find(
        self, connection: sa.Connection, values: Collection[str], **others: Any
    ) -> Iterator[Mapping[str, Any]]:
        """The rows that have one of the values; ``others`` are the statement's own parameters.

        They come in the order of the statement, on SQLite for each group of values.
        """
        wanted = sorted(values)
        if connection.dialect.name == "sqlite":
            for some in _groups(wanted):
                yield from found(connection, self._for(len(some)), **some, **others)
        elif wanted:
            yield from found(connection, self._of_list, values=wanted, **others)

    def _for(self, count: int) -> sa.Select[Any]:
        if count not in self._of_group:
            column = self._column
            names = [sa.bindparam(f"value{n}", None, column.type) for n in range(count)]
            self._of_group[count] = self._statement.where(column.in_(names))
        return self._of_group[count]


def _groups(values: Sequence[str]) -> Iterator[dict[str, str]]:
    """The values by the names of parameters, in groups of few sizes, so that few statements do.

    A group is filled up with its last value.
    """
    for begin in range(0, len(values), _AT_ONCE):
        some = list(values[begin : begin + _AT_ONCE])
        size = 1 << (len(some) - 1).bit_length()
        some += some[-1:] * (size - len(some))
        yield {f"value{number}": value for number, value in enumerate(some)}


class RowsOf:
    """Rows that belong to one of many things, which are asked for together for several of these.

    The statement selects the column that says to which a row belongs.
    """

    def __init__(self, statement: sa.Select[Any], owner: sa.Column[Any]) -> None:
        self._among = InList(statement, owner)
        self._owner = owner.name

    def find(
        self, connection: sa.Connection, owners: Collection[str]
    ) -> dict[str, list[Mapping[str, Any]]]:
        """The rows of each, in the order of the statement."""
        rows: dict[str, list[Mapping[str, Any]]] = {owner: [] for owner in owners}
        for row in self._among.find(connection, rows):
            rows[row[self._owner]].append(row)
        return rows
