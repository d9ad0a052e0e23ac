"""The state of a database, for operators."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from stoker.store.read.group_read import Reading
from stoker.store.schema import tables


class SqlState(Reading):
    """Open work and size of a relational database."""

    async def open_operations(self) -> Mapping[str, tuple[int, float]]:
        """Return the number of open operations and the time of the oldest, by status."""
        return await self._read(_open_operations)

    async def database_size(self) -> int:
        """Bytes of the database."""
        return await self._read(_size_of)


_OPEN_OPERATIONS = (
    sa.select(
        tables.operations.c.status, sa.func.count(), sa.func.min(tables.operations.c.created_at)
    )
    .where(tables.operations.c.status.in_(tables.OPEN))
    .group_by(tables.operations.c.status)
)


def _open_operations(connection: sa.Connection) -> dict[str, tuple[int, float]]:
    """Return the number of open operations and the time of the oldest, by status."""
    found = connection.execute(_OPEN_OPERATIONS).all()
    return {str(status): (int(count), float(first)) for status, count, first in found}


def _size_of(connection: sa.Connection) -> int:
    """Return the bytes of a database."""
    if connection.dialect.name == "sqlite":
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
    own = sa.func.pg_database_size(sa.func.current_database())
    return int(connection.execute(sa.select(own)).scalar_one())
