"""Reads rows of resources: all of a stack, with or without their values, or some of them.

The values (properties, metadata, attributes and data) are encrypted. They are most of the bytes of
a stack, and reading them takes most of the time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa

from stoker.engine.model.records import Resource
from stoker.store.read.group_read import Reading, Rows
from stoker.store.schema import tables
from stoker.store.schema.columns import Kind, kind_of
from stoker.store.sql import rows
from stoker.store.sql.compiled import InList, RowsOf

_columns = tables.resources.c
_ORDER = _columns.created_at, _columns.id
_ALL = RowsOf(sa.select(tables.resources).order_by(*_ORDER), _columns.stack_id)
_WITHOUT_VALUES = RowsOf(
    sa.select(
        *(
            sa.literal_column("'{}'").label(column.name)
            if kind_of(column) is Kind.ENCRYPTED
            else column
            for column in _columns
        )
    ).order_by(*_ORDER),
    _columns.stack_id,
)
_OF_STACK = sa.select(tables.resources).where(_columns.stack_id == sa.bindparam("stack", None))
_NAMED = InList(_OF_STACK, _columns.name)
_WITH_ID = InList(_OF_STACK, _columns.id)


class SqlResources(Reading):
    """Resources of a relational database, as records."""

    async def resources(self, stack_id: str) -> Sequence[Resource]:
        """Return all resource rows, oldest first."""
        return await self._read_rows(_ALL, stack_id, lambda _, some: self._to_resources(some))

    async def outlines(self, stack_id: str) -> Sequence[Resource]:
        """Return all resource rows without their values, oldest first."""
        return await self._read_rows(
            _WITHOUT_VALUES, stack_id, lambda _, some: self._to_resources(some)
        )

    async def some_resources(
        self, stack_id: str, names: Collection[str] = (), ids: Collection[str] = ()
    ) -> Sequence[Resource]:
        """Return the resource rows with one of the names or ids, in any order."""

        def query(connection: sa.Connection) -> list[Resource]:
            found = [
                *_NAMED.find(connection, names, stack=stack_id),
                *_WITH_ID.find(connection, ids, stack=stack_id),
            ]
            return self._to_resources(list({row["id"]: row for row in found}.values()))

        return await self._read(query) if names or ids else []

    def _to_resources(self, some: Rows) -> list[Resource]:
        return [rows.to_resource(row, self._cipher) for row in some]
