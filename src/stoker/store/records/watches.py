"""The rows of watches and measurements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from msgspec import structs

from stoker.engine.model.records import Resource
from stoker.engine.model.watches import Watch, WatchChange, WatchInside, WatchReads
from stoker.schema.watching import Measurement, WatchState
from stoker.store.read.group_read import Reading
from stoker.store.records.lazy_flush import LazyFlush
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.bulk import delete, insert

Result = TypeVar("Result")
MEASUREMENTS_KEPT = 5000
"""Of each watch; older ones go when new ones come."""
_watches, _measurements, _stacks = tables.watches, tables.measurements, tables.stacks
_HELD = ("state", "reason", "changed_at", "created_at", "acts")
"""Columns that a watch keeps when its resource changes."""


class SqlWatches(Reading, WatchReads):
    """Watches in a relational database."""

    async def next_at(self) -> float | None:
        """Return the time of the next evaluation of a watch."""
        select = sa.select(sa.func.min(_watches.c.next_at))
        return await self._read(lambda connection: connection.execute(select).scalar_one())

    async def due(self, now: float, most: int) -> Sequence[Watch]:
        """Return watches whose evaluation is due."""
        select = sa.select(_watches).where(_watches.c.next_at <= now)
        return await self._found(select.order_by(_watches.c.next_at).limit(most))

    async def resource(self, resource_id: str) -> Resource | None:
        """The row that a watch belongs to."""
        select = sa.select(tables.resources).where(tables.resources.c.id == resource_id)

        def query(connection: sa.Connection) -> Resource | None:
            found = rows.dicts(connection.execute(select))
            return next((rows.to_resource(row, self._cipher) for row in found), None)

        return await self._read(query)

    async def measurements(self, resource_id: str, since: float) -> Sequence[Measurement]:
        """The measurements of a watch from then on, oldest first."""
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
        """Watches of a project's live stacks."""
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
        return await self._found(select.order_by(_watches.c.name).limit(most))

    async def _found(self, select: sa.Select[Any]) -> list[Watch]:
        return await self._read(
            lambda connection: [_watch(row) for row in rows.dicts(connection.execute(select))]
        )


class WatchesInTransaction(LazyFlush, WatchInside):
    """Watches for guards."""

    def watch(self, resource_id: str) -> Watch | None:
        """One watch, locked."""
        one = sa.select(_watches).where(_watches.c.resource_id == resource_id).with_for_update()
        return next(map(_watch, rows.dicts(self._connection.execute(one))), None)


def _watch(row: rows.Row) -> Watch:
    values = dict(row)
    return Watch(**{**values, "state": WatchState(values["state"])})


OF_WATCHED = (_watches.c.resource_id, _measurements.c.resource_id)
"""What goes with a resource."""


def write_watches(connection: sa.Connection, change: WatchChange) -> None:
    """Write the changes of a commit."""
    kept = [structs.asdict(each) for each in change.kept]
    insert(connection, _watches, kept, "resource_id", keep=_HELD)
    for watch in change.judged:
        update = _watches.update().where(_watches.c.resource_id == watch.resource_id)
        connection.execute(update.values(**structs.asdict(watch)))
    measured = [{"resource_id": watch, **structs.asdict(each)} for watch, each in change.measured]
    if measured:
        insert(connection, _measurements, measured)
        _drop_old(connection, {row["resource_id"] for row in measured})
    for column in OF_WATCHED:
        delete(connection, column, change.dropped)


def _drop_old(connection: sa.Connection, resource_ids: Iterable[str]) -> None:
    columns = _measurements.c
    for resource_id in resource_ids:
        newest_old = (
            sa.select(columns.number)
            .where(columns.resource_id == resource_id)
            .order_by(columns.number.desc())
            .offset(MEASUREMENTS_KEPT)
            .limit(1)
            .scalar_subquery()
        )
        connection.execute(
            _measurements.delete().where(
                columns.resource_id == resource_id, columns.number <= newest_old
            )
        )
