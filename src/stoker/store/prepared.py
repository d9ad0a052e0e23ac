"""Statements that are executed for every change, as text that was compiled once.

SQLAlchemy looks at a statement and at each of its values anew: it takes longer than to execute it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        self._own = {name: own for name, own in compiled.params.items() if own is not None}

    def execute(self, connection: sa.Connection, *values: Mapping[str, Any]) -> Any:
        """The result of executing it with these values, once with each if there are several."""
        if self._own:
            values = tuple({**self._own, **row} for row in values)
        order = self._order
        if order is None:
            return connection.exec_driver_sql(self._text, [dict(row) for row in values])
        rows = [tuple([row[name] for name in order]) for row in values]
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
