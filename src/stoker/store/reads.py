"""What is read from the database; each read is a transaction of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

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
from stoker.store.encryption import Cipher
from stoker.store.prepared import found
from stoker.store.queries import with_requested
from stoker.store.reading import Reading

_AT_ONCE = 500
"""Ids in one statement."""


# built once: to put together a statement takes longer than to execute it
_STACK_ID: sa.BindParameter[str] = sa.bindparam("stack", None)
_ALL = sa.select(tables.stacks)
_STACK = with_requested(_ALL.where(tables.stacks.c.id == _STACK_ID))
_NAMED = with_requested(_ALL.where(tables.stacks.c.live_name == sa.bindparam("name", None)))
_NAMED_IN_PROJECT = with_requested(
    _ALL.where(
        sa.or_(
            sa.and_(
                tables.stacks.c.project_id == sa.bindparam("project", None),
                tables.stacks.c.live_name == sa.bindparam("name", None),
            ),
            sa.and_(
                tables.stacks.c.user_project_id == sa.bindparam("project", None),
                tables.stacks.c.name == sa.bindparam("name", None),
                tables.stacks.c.deleted_at.is_(None),
            ),
        )
    )
)
_CHILDREN = with_requested(
    _ALL.where(
        tables.stacks.c.parent_id == sa.bindparam("parent", None),
        tables.stacks.c.deleted_at.is_(None),
    )
)
_INPUT = sa.select(tables.inputs).where(tables.inputs.c.id == sa.bindparam("input", None))
_CONTENTS = sa.select(tables.contents).join(
    tables.inputs,
    tables.contents.c.hash.in_(
        [tables.inputs.c[name] for name in ("template", "text", "environment", "files")]
    ),
)
_CONTENTS = _CONTENTS.where(tables.inputs.c.id == sa.bindparam("input", None))
_OPERATION = sa.select(tables.operations).where(
    tables.operations.c.id == sa.bindparam("operation", None)
)
_STATUS = sa.select(tables.operations.c.status, tables.operations.c.reason).where(
    tables.operations.c.id == sa.bindparam("operation", None)
)
_OPEN_OPERATIONS = (
    sa.select(tables.operations)
    .where(tables.operations.c.stack_id == _STACK_ID, tables.operations.c.status.in_(queries.OPEN))
    .order_by(tables.operations.c.number)
)
_RESOURCES = (
    sa.select(tables.resources)
    .where(tables.resources.c.stack_id == _STACK_ID)
    .order_by(tables.resources.c.created_at, tables.resources.c.id)
)
_SIGNAL_IDS = (
    sa.select(tables.signals.c.id)
    .where(tables.signals.c.stack_id == _STACK_ID)
    .order_by(tables.signals.c.number)
)
_SIGNALS = sa.select(tables.signals).where(
    tables.signals.c.id.in_(sa.bindparam("ids", expanding=True))
)


class SqlReads(Reading):
    """Rows of a relational database, as records."""

    async def stack(self, stack_id: str) -> Stack | None:
        """One stack by id."""
        return next(iter(await self._stacks(_STACK, stack=stack_id)), None)

    async def _stacks(self, statement: sa.Select[Any], **named: Any) -> list[Stack]:
        """The stacks of one of the statements above."""
        return await self._read(
            lambda connection: self._to_stacks(found(connection, statement, **named))
        )

    def _to_stacks(self, some: Iterable[rows.Row]) -> list[Stack]:
        """Stacks with the action that waits for each."""
        return [rows.to_stack(row, self._cipher, row["requested"]) for row in some]

    async def find_stack(self, project_id: str | None, name: str) -> Stack | None:
        """The live stack of a name."""
        select = _NAMED if project_id is None else _NAMED_IN_PROJECT
        return next(iter(await self._stacks(select, name=name, project=project_id)), None)

    async def stacks(self, project_id: str | None, query: StackQuery) -> Sequence[Stack]:
        """Stacks that match, in order."""
        listed = queries.stack_list(project_id, query)
        select = with_requested(queries.stack_page(listed, query.page))
        return await self._read(
            lambda connection: self._to_stacks(rows.dicts(connection.execute(select)))
        )

    async def count_stacks(self, project_id: str | None, query: StackQuery) -> int:
        """How many stacks match."""
        inner = queries.stack_list(project_id, query).subquery()
        select = sa.select(sa.func.count()).select_from(inner)
        return int(await self._read(lambda connection: connection.execute(select).scalar_one()))

    async def children(self, stack_id: str) -> Sequence[Stack]:
        """The live nested stacks of a stack."""
        return await self._stacks(_CHILDREN, parent=stack_id)

    async def input(self, input_id: str) -> Input:
        """One input. Raises NotFound."""

        def query(connection: sa.Connection) -> Input:
            for row in found(connection, _INPUT, input=input_id):
                named = found(connection, _CONTENTS, input=input_id)
                bodies = {each["hash"]: each["body"] for each in named}
                return rows.to_input(row, bodies, self._cipher)
            raise NotFound(f"there is no input {input_id}")

        return await self._read(query)

    async def operations(self, stack_id: str) -> Sequence[Operation]:
        """The operations that are not final, oldest first."""
        return await self._read(lambda connection: _operations(connection, self._cipher, stack_id))

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

        def query(connection: sa.Connection) -> tuple[OperationStatus, str] | None:
            for row in found(connection, _STATUS, operation=operation_id):
                return OperationStatus(row["status"]), row["reason"]
            return None

        return await self._read(query)

    async def operation(self, operation_id: str) -> Operation | None:
        """One operation."""

        def query(connection: sa.Connection) -> Operation | None:
            for row in found(connection, _OPERATION, operation=operation_id):
                return rows.to_operation(row, self._cipher)
            return None

        return await self._read(query)

    async def unfinished_stacks(self) -> Sequence[str]:
        """Ids of the stacks with operations that are not final."""
        columns = tables.operations.c
        select = sa.select(columns.stack_id).where(columns.status.in_(queries.OPEN)).distinct()
        return await self._read(lambda connection: list(connection.execute(select).scalars()))

    async def resources(self, stack_id: str) -> Sequence[Resource]:
        """All resource rows, oldest first."""

        def query(connection: sa.Connection) -> list[Resource]:
            some = found(connection, _RESOURCES, stack=stack_id)
            return [rows.to_resource(row, self._cipher) for row in some]

        return await self._read(query)

    async def events(self, stack_ids: Sequence[str], query: EventQuery) -> Sequence[Event]:
        """Events that match, in order."""
        select = queries.event_page(stack_ids, query)
        return await self._read(
            lambda connection: [
                rows.to_event(row, self._cipher) for row in rows.dicts(connection.execute(select))
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
            return None if row is None else rows.to_event(row, self._cipher)

        return await self._read(query)

    async def signals(
        self, stack_id: str, known: Mapping[str, StoredSignal] = MappingProxyType({})
    ) -> Sequence[StoredSignal]:
        """The signals of a stack's resources, oldest first; those ``known`` by id as given."""

        return await self._read(
            lambda connection: _signals(connection, self._cipher, stack_id, known)
        )

    async def agenda(
        self, stack_id: str, known: Mapping[str, StoredSignal]
    ) -> tuple[Sequence[StoredSignal], Sequence[Operation]]:
        """The signals of a stack's resources and its operations that are not final."""
        return await self._read(
            lambda connection: (
                _signals(connection, self._cipher, stack_id, known),
                _operations(connection, self._cipher, stack_id),
            )
        )


def _operations(connection: sa.Connection, cipher: Cipher, stack_id: str) -> list[Operation]:
    some = found(connection, _OPEN_OPERATIONS, stack=stack_id)
    return [rows.to_operation(row, cipher) for row in some]


def _signals(
    connection: sa.Connection, cipher: Cipher, stack_id: str, known: Mapping[str, StoredSignal]
) -> list[StoredSignal]:
    ids = [row["id"] for row in found(connection, _SIGNAL_IDS, stack=stack_id)]
    stored = {id_: known[id_] for id_ in ids if id_ in known}
    new = [id_ for id_ in ids if id_ not in known]
    for begin in range(0, len(new), _AT_ONCE):
        some = {"ids": new[begin : begin + _AT_ONCE]}
        for row in rows.dicts(connection.execute(_SIGNALS, some)):
            signal = rows.to_signal(row, cipher)
            if signal is not None:
                stored[signal.id] = signal
    return [stored[id_] for id_ in ids if id_ in stored]
