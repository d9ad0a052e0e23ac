"""The rows of exports and imports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa

from stoker.engine.model.stack_records.exports import Export, Exports
from stoker.store.read import queries
from stoker.store.read.group_read import Reading
from stoker.store.records.lazy_flush import LazyFlush
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.compiled import Insert, Inserts
from stoker.store.sql.encryption import Cipher

_exports, _imports, _stacks = tables.exports, tables.imports, tables.stacks


class SqlExports(Reading):
    """Exports in a relational database."""

    async def exports(
        self, project_id: str, names: Iterable[str] | None = None
    ) -> Sequence[Export]:
        """Return the exports of a project, or those of these names, by name."""
        return await self._read(
            lambda connection: _found(connection, self._cipher, project_id, names)
        )

    async def importers(self, project_id: str, names: Iterable[str]) -> Mapping[str, list[str]]:
        """Return the names of the live stacks that use exports, by export."""
        return await self._read(lambda connection: _importers(connection, project_id, names))


class ExportsInTransaction(LazyFlush):
    """Exports for guards."""

    def exports(self, project_id: str) -> Mapping[str, Export]:
        """Return the exports of a project by name."""
        queries.lock_project(self._connection, project_id)
        found = _found(self._connection, self._cipher, project_id, None)
        return {each.name: each for each in found}

    def importers(self, project_id: str, names: Iterable[str]) -> Mapping[str, list[str]]:
        """Return the names of the live stacks that use exports, by export."""
        return _importers(self._connection, project_id, names)


def _found(
    connection: sa.Connection, cipher: Cipher, project_id: str, names: Iterable[str] | None
) -> list[Export]:
    select = sa.select(_exports).where(_exports.c.project_id == project_id)
    if names is not None:
        select = select.where(_exports.c.name.in_(list(names)))
    return [
        Export(**{**row, "value": cipher.decrypt(row["value"])["value"]})
        for row in rows.dicts(connection.execute(select.order_by(_exports.c.name)))
    ]


def _importers(
    connection: sa.Connection, project_id: str, names: Iterable[str]
) -> dict[str, list[str]]:
    select = (
        sa.select(_imports.c.name, _stacks.c.name.label("stack"))
        .distinct()
        .join(_stacks, _stacks.c.id == _imports.c.stack_id)
        .where(
            _stacks.c.project_id == project_id,
            _stacks.c.deleted_at.is_(None),
            _imports.c.name.in_(list(names)),
        )
        .order_by(_stacks.c.name)
    )
    found: dict[str, list[str]] = defaultdict(list)
    for name, stack in connection.execute(select):
        found[name].append(stack)
    return found


_INSERT = Insert(_exports)


def put_exports(inserts: Inserts, records: Sequence[Exports], cipher: Cipher) -> None:
    """Replace all exports of stacks."""
    for record in records:
        # An export that moves to another stack of the transaction is deleted first.
        inserts.flush()
        former = _exports.delete().where(_exports.c.stack_id == record.stack_id)
        inserts.connection.execute(former)
        inserts.add(_INSERT, [rows.to_row(each, cipher) for each in record.exports])
