"""The rows of change sets, refactors and the protections of stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from stoker.engine.model.stack_records.change_sets import (
    ChangeSet,
    ChangeSetExecution,
    Detection,
    Protection,
)
from stoker.engine.model.stack_records.refactors import StoredRefactor
from stoker.kernel.json.text import loads
from stoker.store.records.client_tokens import ClientTokensInTransaction, SqlClientTokens
from stoker.store.records.exports import ExportsInTransaction, SqlExports
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.compiled import Inserts
from stoker.store.sql.encryption import Cipher

_sets, _protections, _detections = tables.change_sets, tables.protections, tables.detections
_LARGE = ("request", "shown")
_SMALL = tuple(
    column for column in _sets.c if column.name not in _LARGE and column is not _sets.c.number
)
_refactors = tables.stack_refactors
_SMALL_OF_REFACTOR = tuple(
    column for column in _refactors.c if column.name not in (*_LARGE, "number")
)


class SqlChangeSets(SqlExports, SqlClientTokens):
    """Change sets, refactors, protections and detections of drift in a relational database."""

    async def change_sets(self, stack_id: str) -> Sequence[ChangeSet]:
        """Return the change sets of a stack, oldest first, without their large columns."""
        select = sa.select(*_SMALL).where(_sets.c.stack_id == stack_id).order_by(_sets.c.number)
        return await self._read(
            lambda connection: [ChangeSet(**row) for row in rows.dicts(connection.execute(select))]
        )

    async def change_set(self, stack_id: str, name: str) -> ChangeSet | None:
        """Return the change set of a stack with this name or id."""
        select = sa.select(*_SMALL, *(_sets.c[name] for name in _LARGE)).where(
            _sets.c.stack_id == stack_id, sa.or_(_sets.c.name == name, _sets.c.id == name)
        )

        def query(connection: sa.Connection) -> ChangeSet | None:
            for row in rows.dicts(connection.execute(select)):
                large = {name: self._cipher.decrypt(row[name]) for name in _LARGE}
                return ChangeSet(**{**row, **large})
            return None

        return await self._read(query)

    async def refactors(self, project_id: str) -> Sequence[StoredRefactor]:
        """Return the refactors of a project, the newest first, without their large columns."""
        select = sa.select(*_SMALL_OF_REFACTOR).where(_refactors.c.project_id == project_id)
        select = select.order_by(_refactors.c.number.desc())
        return await self._read(
            lambda connection: [
                StoredRefactor(**row) for row in rows.dicts(connection.execute(select))
            ]
        )

    async def refactor(self, project_id: str, refactor_id: str) -> StoredRefactor | None:
        """Return a refactor of a project."""
        select = sa.select(*_SMALL_OF_REFACTOR, *(_refactors.c[name] for name in _LARGE)).where(
            _refactors.c.project_id == project_id, _refactors.c.id == refactor_id
        )

        def query(connection: sa.Connection) -> StoredRefactor | None:
            for row in rows.dicts(connection.execute(select)):
                large = {name: self._cipher.decrypt(row[name]) for name in _LARGE}
                return StoredRefactor(**{**row, **large})
            return None

        return await self._read(query)

    async def protection(self, stack_id: str) -> Protection:
        """Return the protection of a stack."""
        return await self._read(lambda connection: _protection(connection, stack_id))

    async def detection(self, detection_id: str) -> Detection | None:
        """Return one detection."""
        return await self._found_detection(_detections.c.id == detection_id)

    async def latest_detection(self, stack_id: str) -> Detection | None:
        """Return the newest detection of a stack that has ended with a result."""
        return await self._found_detection(
            _detections.c.stack_id == stack_id,
            _detections.c.ended_at.is_not(None),
            _detections.c.fault == "",
        )

    async def _found_detection(self, *which: sa.ColumnElement[bool]) -> Detection | None:
        columns = [column for column in _detections.c if column is not _detections.c.number]
        select = sa.select(*columns).where(*which).order_by(_detections.c.number.desc()).limit(1)

        def query(connection: sa.Connection) -> Detection | None:
            for row in rows.dicts(connection.execute(select)):
                return Detection(**{**row, "found": self._cipher.decrypt(row["found"])})
            return None

        return await self._read(query)


class ChangeSetsInTransaction(ExportsInTransaction, ClientTokensInTransaction):
    """Change sets and protections for guards."""

    def change_sets(self, stack_id: str) -> Mapping[str, str | None]:
        """Return the operations that execute the change sets of a stack, by name."""
        select = sa.select(_sets.c.name, _sets.c.operation_id).where(_sets.c.stack_id == stack_id)
        return {row.name: row.operation_id for row in self._connection.execute(select)}

    def protection(self, stack_id: str) -> Protection:
        """Return the protection of a stack. Read the stack first, which locks it."""
        return _protection(self._connection, stack_id)


def _protection(connection: sa.Connection, stack_id: str) -> Protection:
    select = sa.select(_protections).where(_protections.c.stack_id == stack_id)
    for row in rows.dicts(connection.execute(select)):
        return Protection(stack_id, row["keeps"], loads(row["policy"]))
    return Protection(stack_id)


def put_executions(
    inserts: Inserts, executions: Sequence[ChangeSetExecution], _cipher: Cipher
) -> None:
    """Record that change sets are executed; drop the other ones of their stacks."""
    inserts.flush()
    connection = inserts.connection
    for each in executions:
        mine = _sets.c.id == each.change_set_id
        stack = sa.select(_sets.c.stack_id).where(mine).scalar_subquery()
        others = _sets.delete().where(
            _sets.c.stack_id == stack,
            _sets.c.id != each.change_set_id,
            _sets.c.operation_id.is_(None),
        )
        connection.execute(others)
        connection.execute(_sets.update().where(mine).values(operation_id=each.operation_id))
