"""Reads snapshots of stacks."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from stoker.engine.model.snapshots import Snapshot, SnapshotPart
from stoker.store import rows, tables
from stoker.store.reading import Reading


class SqlSnapshots(Reading):
    """Snapshots of a relational database, as records."""

    async def snapshots(self, stack_id: str) -> Sequence[Snapshot]:
        """The snapshots of a stack, oldest first."""
        return await self._snapshots(tables.snapshots.c.stack_id == stack_id)

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """One snapshot."""
        found = await self._snapshots(tables.snapshots.c.id == snapshot_id)
        return found[0] if found else None

    async def _snapshots(self, which: sa.ColumnElement[bool]) -> list[Snapshot]:
        select = sa.select(tables.snapshots).where(which).order_by(tables.snapshots.c.number)
        return await self._read(
            lambda connection: [
                rows.to_snapshot(row, self._cipher)
                for row in rows.dicts(connection.execute(select))
            ]
        )

    async def snapshot_parts(self, snapshot_id: str) -> Sequence[SnapshotPart]:
        """What a snapshot holds of each resource, in the order of their paths."""
        table = tables.snapshot_parts
        select = sa.select(table).where(table.c.snapshot_id == snapshot_id)

        def query(connection: sa.Connection) -> list[SnapshotPart]:
            found = rows.dicts(connection.execute(select))
            parts = (rows.to_snapshot_part(row, self._cipher) for row in found)
            return sorted(parts, key=lambda part: part.path)

        return await self._read(query)
