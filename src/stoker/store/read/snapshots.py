"""Reads snapshots of stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.kernel.json.text import dumps
from stoker.store.read.group_read import Reading
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.compiled import found

_ALL = sa.select(tables.snapshots).order_by(tables.snapshots.c.number)
_OF_STACK = _ALL.where(tables.snapshots.c.stack_id == sa.bindparam("id", None))
_SNAPSHOT = _ALL.where(tables.snapshots.c.id == sa.bindparam("id", None))


class SqlSnapshots(Reading):
    """Snapshots of a relational database, as records."""

    async def snapshots(self, stack_id: str) -> Sequence[Snapshot]:
        """Return the snapshots of a stack, oldest first."""
        return await self._snapshots(_OF_STACK, stack_id)

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """Return a snapshot."""
        return next(iter(await self._snapshots(_SNAPSHOT, snapshot_id)), None)

    async def _snapshots(self, statement: sa.Select[Any], id_: str) -> list[Snapshot]:
        return await self._read(
            lambda connection: [
                rows.to_snapshot(row, self._cipher) for row in found(connection, statement, id=id_)
            ]
        )

    async def snapshot_parts(
        self, snapshot_id: str, below: Sequence[str] = ()
    ) -> Sequence[SnapshotPart]:
        """Return the parts of a snapshot, one for each resource, in the order of their paths.

        With the path of a nested stack, return only the parts ``below`` it.
        """
        table = tables.snapshot_parts
        select = sa.select(table).where(table.c.snapshot_id == snapshot_id)
        if below:
            start = f"{dumps(list(below))[:-1]},"
            select = select.where(sa.func.substr(table.c.path, 1, len(start)) == start)

        def query(connection: sa.Connection) -> list[SnapshotPart]:
            some = rows.dicts(connection.execute(select))
            parts = (rows.to_snapshot_part(row, self._cipher) for row in some)
            return sorted(parts, key=lambda part: part.path)

        return await self._read(query)
