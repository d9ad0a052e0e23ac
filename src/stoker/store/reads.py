"""What is read from the database; each read is a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.records import (
    Event,
    Input,
    Operation,
    OperationStatus,
    Queued,
    Resource,
    Stack,
    StoredSignal,
)
from stoker.engine.model.requests import EventQuery, StackQuery
from stoker.kernel.errors import NotFound
from stoker.store import queries, rows, tables
from stoker.store.faults import database_faults
from stoker.store.runners import Runner
from stoker.store.sealing import Seal

Result = TypeVar("Result")


class SqlReads:
    """Rows of a relational database, as records."""

    def __init__(self, engine: sa.Engine, seal: Seal, runner: Runner) -> None:
        self._engine = engine
        self._seal = seal
        self._runner = runner

    async def _read(self, query: Callable[[sa.Connection], Result]) -> Result:
        def transaction() -> Result:
            with database_faults(), self._engine.connect() as connection:
                return query(connection)

        return await self._runner.read(transaction)

    async def stack(self, stack_id: str) -> Stack | None:
        """One stack by id."""
        found = await self._stacks(sa.select(tables.stacks).where(tables.stacks.c.id == stack_id))
        return found[0] if found else None

    async def _stacks(self, select: sa.Select[Any]) -> list[Stack]:
        """The stacks of a query, each with the action that waits for it."""
        with_waiting = queries.with_requested(select)

        def query(connection: sa.Connection) -> list[Stack]:
            found = rows.dicts(connection.execute(with_waiting))
            return [rows.to_stack(row, self._seal, row["requested"]) for row in found]

        return await self._read(query)

    async def find_stack(self, project_id: str | None, name: str) -> Stack | None:
        """The live stack of a name."""
        select = sa.select(tables.stacks).where(tables.stacks.c.live_name == name)
        if project_id is not None:
            select = select.where(tables.stacks.c.project_id == project_id)
        found = await self._stacks(select)
        return found[0] if found else None

    async def stacks(self, project_id: str | None, query: StackQuery) -> Sequence[Stack]:
        """Stacks that match, in order."""
        select = queries.stack_list(project_id, query)
        return await self._stacks(queries.stack_page(select, query.page))

    async def count_stacks(self, project_id: str | None, query: StackQuery) -> int:
        """How many stacks match."""
        inner = queries.stack_list(project_id, query).subquery()
        select = sa.select(sa.func.count()).select_from(inner)
        return int(await self._read(lambda connection: connection.execute(select).scalar_one()))

    async def children(self, stack_id: str) -> Sequence[Stack]:
        """The live nested stacks of a stack."""
        stacks = tables.stacks.c
        return await self._stacks(
            sa.select(tables.stacks).where(
                stacks.parent_id == stack_id, stacks.deleted_at.is_(None)
            )
        )

    async def input(self, input_id: str) -> Input:
        """One input. Raises NotFound."""

        def query(connection: sa.Connection) -> Input:
            select = sa.select(tables.inputs).where(tables.inputs.c.id == input_id)
            row = connection.execute(select).mappings().one_or_none()
            if row is None:
                raise NotFound(f"there is no input {input_id}")
            wanted = {row["template"], row["text"], row["environment"], row["files"]}
            contents = tables.contents
            bodies = {
                found.hash: found.body
                for found in connection.execute(
                    sa.select(contents).where(contents.c.hash.in_(wanted))
                )
            }
            return rows.to_input(row, bodies, self._seal)

        return await self._read(query)

    async def operations(self, stack_id: str) -> Sequence[Operation]:
        """The operations that are not final, oldest first."""
        columns = tables.operations.c
        select = (
            sa.select(tables.operations)
            .where(columns.stack_id == stack_id, columns.status.in_(queries.OPEN))
            .order_by(columns.number)
        )
        return await self._read(
            lambda connection: [
                rows.to_operation(row, self._seal) for row in rows.dicts(connection.execute(select))
            ]
        )

    async def queue(self, stack_id: str) -> Sequence[Queued]:
        """The operations that are not final, oldest first, without their plans."""
        return await self._read(lambda connection: queries.queue(connection, stack_id))

    async def parts(self, stack_id: str, parent_operation: str) -> Sequence[Queued]:
        """The operations of a stack that are part of one of its parent."""
        return await self._read(
            lambda connection: queries.parts(connection, stack_id, parent_operation)
        )

    async def operation_status(self, operation_id: str) -> tuple[OperationStatus, str] | None:
        """Status and reason of one operation."""
        columns = tables.operations.c
        select = sa.select(columns.status, columns.reason).where(columns.id == operation_id)

        def query(connection: sa.Connection) -> tuple[OperationStatus, str] | None:
            row = connection.execute(select).one_or_none()
            return None if row is None else (OperationStatus(row.status), row.reason)

        return await self._read(query)

    async def operation(self, operation_id: str) -> Operation | None:
        """One operation."""
        select = sa.select(tables.operations).where(tables.operations.c.id == operation_id)

        def query(connection: sa.Connection) -> Operation | None:
            row = connection.execute(select).mappings().one_or_none()
            return None if row is None else rows.to_operation(row, self._seal)

        return await self._read(query)

    async def unfinished_stacks(self) -> Sequence[str]:
        """Ids of the stacks with operations that are not final."""
        columns = tables.operations.c
        select = sa.select(columns.stack_id).where(columns.status.in_(queries.OPEN)).distinct()
        return await self._read(lambda connection: list(connection.execute(select).scalars()))

    async def resources(self, stack_id: str) -> Sequence[Resource]:
        """All resource rows, oldest first."""
        columns = tables.resources.c
        select = (
            sa.select(tables.resources)
            .where(columns.stack_id == stack_id)
            .order_by(columns.created_at, columns.id)
        )
        return await self._read(
            lambda connection: [
                rows.to_resource(row, self._seal) for row in rows.dicts(connection.execute(select))
            ]
        )

    async def events(self, stack_ids: Sequence[str], query: EventQuery) -> Sequence[Event]:
        """Events that match, in order."""
        select = queries.event_page(stack_ids, query)
        return await self._read(
            lambda connection: [
                rows.to_event(row, self._seal) for row in rows.dicts(connection.execute(select))
            ]
        )

    async def event(self, stack_id: str, event_id: str) -> Event | None:
        """One event."""
        columns = tables.events.c
        select = sa.select(tables.events).where(
            columns.stack_id == stack_id, columns.id == event_id
        )

        def query(connection: sa.Connection) -> Event | None:
            row = connection.execute(select).mappings().one_or_none()
            return None if row is None else rows.to_event(row, self._seal)

        return await self._read(query)

    async def signals(self, stack_id: str) -> Sequence[StoredSignal]:
        """The signals of a stack's resources, oldest first."""
        columns = tables.signals.c
        select = (
            sa.select(tables.signals).where(columns.stack_id == stack_id).order_by(columns.number)
        )
        return await self._read(
            lambda connection: [
                signal
                for row in rows.dicts(connection.execute(select))
                if (signal := rows.to_signal(row, self._seal)) is not None
            ]
        )
