"""The rows of watches and measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.records import Resource
from stoker.engine.model.stack_records.watches import Watch
from stoker.schema.watching import Measurement, WatchState
from stoker.store.read.group_read import Reading
from stoker.store.records.lazy_flush import LazyFlush
from stoker.store.schema import tables
from stoker.store.sql import rows

Result = TypeVar("Result")
_watches, _measurements, _stacks = tables.watches, tables.measurements, tables.stacks


class SqlWatches(Reading):
    """Watches in a relational database."""

    async def next_watch_at(self) -> float | None:
        """Return the time of the next evaluation of a watch."""
        select = sa.select(sa.func.min(_watches.c.next_at))
        return await self._read(lambda connection: connection.execute(select).scalar_one())

    async def due_watches(self, now: float, most: int) -> Sequence[Watch]:
        """Return watches whose evaluation is due."""
        select = sa.select(_watches).where(_watches.c.next_at <= now)
        return await self._found_watches(select.order_by(_watches.c.next_at).limit(most))

    async def resource(self, resource_id: str) -> Resource | None:
        """Return the row that a watch belongs to."""
        select = sa.select(tables.resources).where(tables.resources.c.id == resource_id)

        def query(connection: sa.Connection) -> Resource | None:
            found = rows.dicts(connection.execute(select))
            return next((rows.to_resource(row, self._cipher) for row in found), None)

        return await self._read(query)

    async def measurements(self, resource_id: str, since: float) -> Sequence[Measurement]:
        """Return the measurements of a watch from a time on, oldest first."""
        columns = _measurements.c
        select = (
            sa.select(*(columns[name] for name in Measurement.__struct_fields__))
            .where(columns.resource_id == resource_id, columns.at >= since)
            .order_by(columns.at, columns.number)
        )
        return await self._read(
            lambda connection: [Measurement(*row) for row in connection.execute(select)]
        )

    async def watches(
        self,
        project_id: str,
        name: str | None = None,
        metric: tuple[str, str] | None = None,
        most: int = 1000,
    ) -> Sequence[Watch]:
        """Return the watches of a project's live stacks."""
        own = sa.or_(_stacks.c.project_id == project_id, _stacks.c.user_project_id == project_id)
        select = (
            sa.select(_watches)
            .join(_stacks, _stacks.c.id == _watches.c.stack_id)
            .where(own, _stacks.c.deleted_at.is_(None))
        )
        if name is not None:
            select = select.where(_watches.c.name == name)
        if metric is not None:
            namespace, metric_name = metric
            select = select.where(
                _watches.c.namespace == namespace, _watches.c.metric == metric_name
            )
        return await self._found_watches(select.order_by(_watches.c.name).limit(most))

    async def _found_watches(self, select: sa.Select[Any]) -> list[Watch]:
        return await self._read(
            lambda connection: [_watch(row) for row in rows.dicts(connection.execute(select))]
        )


class WatchesInTransaction(LazyFlush):
    """Watches for guards."""

    def watch(self, resource_id: str) -> Watch | None:
        """Return one watch, locked."""
        one = sa.select(_watches).where(_watches.c.resource_id == resource_id).with_for_update()
        return next(map(_watch, rows.dicts(self._connection.execute(one))), None)


def _watch(row: rows.Row) -> Watch:
    values = dict(row)
    return Watch(**{**values, "state": WatchState(values["state"])})
