"""Reads from the database, each in a transaction of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreError
from stoker.engine.model.records import (
    Event,
    Input,
    Operation,
    OperationStatus,
    Queued,
    Stack,
    StoredSignal,
)
from stoker.engine.model.requests import EventQuery, StackQuery
from stoker.kernel.errors import DamagedRecordError, NotFoundError
from stoker.kernel.logs.log import Log
from stoker.store.read import queries
from stoker.store.read.group_read import Rows
from stoker.store.read.queries import with_requested
from stoker.store.read.resource_rows import SqlResources
from stoker.store.read.snapshots import SqlSnapshots
from stoker.store.read.state import SqlState
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.compiled import RowsOf, found
from stoker.store.sql.encryption import Cipher

log = Log(__name__)

_AT_ONCE = 500  # ids in one statement


# Build statements once. Building one takes longer than executing it.
_ALL = sa.select(tables.stacks)
_STACK = RowsOf(with_requested(_ALL), tables.stacks.c.id)
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
INPUT = RowsOf(sa.select(tables.inputs), tables.inputs.c.id)
OPERATION = RowsOf(sa.select(tables.operations), tables.operations.c.id)
_STATUS = RowsOf(
    sa.select(tables.operations.c.id, tables.operations.c.status, tables.operations.c.reason),
    tables.operations.c.id,
)
_OPEN_OPERATIONS = RowsOf(
    sa.select(tables.operations)
    .where(tables.operations.c.status.in_(tables.OPEN))
    .order_by(tables.operations.c.number),
    tables.operations.c.stack_id,
)
_SIGNAL_IDS = RowsOf(
    sa.select(tables.signals.c.id, tables.signals.c.stack_id).order_by(tables.signals.c.number),
    tables.signals.c.stack_id,
)
_SIGNAL_IDS_OF_RESOURCE = RowsOf(
    sa.select(tables.signals.c.id, tables.signals.c.resource_id).order_by(tables.signals.c.number),
    tables.signals.c.resource_id,
)
_SIGNALS = sa.select(tables.signals).where(
    tables.signals.c.id.in_(sa.bindparam("ids", expanding=True))
)


def contents_of(connection: sa.Connection, some: Rows, cipher: Cipher) -> Mapping[str, Any]:
    """Return the contents that rows of :data:`INPUT` refer to, by hash."""
    return cipher.contents.read(connection, some, cipher.decrypt_content)


class SqlReads(SqlResources, SqlSnapshots, SqlState):
    """Rows of a relational database, as records."""

    async def stack(self, stack_id: str) -> Stack | None:
        """Return a stack by id."""
        return await self._read_rows(
            _STACK, stack_id, lambda _, some: next(iter(self._to_stacks(some)), None)
        )

    async def _stacks(self, statement: sa.Select[Any], **named: Any) -> list[Stack]:
        """Return the stacks of one of the statements above."""
        return await self._read(
            lambda connection: self._to_stacks(found(connection, statement, **named))
        )

    def _to_stacks(self, some: Iterable[rows.Row]) -> list[Stack]:
        """Return stacks with the action that waits to start."""
        return [rows.to_stack(row, self._cipher, row["requested"]) for row in some]

    async def find_stack(self, project_id: str | None, name: str) -> Stack | None:
        """Return the live stack of a name."""
        select = _NAMED if project_id is None else _NAMED_IN_PROJECT
        return next(iter(await self._stacks(select, name=name, project=project_id)), None)

    async def stacks(self, project_id: str | None, query: StackQuery) -> Sequence[Stack]:
        """Return the stacks that match, in order."""
        listed = queries.stack_list(project_id, query)
        select = with_requested(queries.stack_page(listed, query.page))
        return await self._read(
            lambda connection: self._to_stacks(rows.dicts(connection.execute(select)))
        )

    async def count_stacks(self, project_id: str | None, query: StackQuery) -> int:
        """Return the number of stacks that match."""
        inner = queries.stack_list(project_id, query).subquery()
        select = sa.select(sa.func.count()).select_from(inner)
        return int(await self._read(lambda connection: connection.execute(select).scalar_one()))

    async def children(self, stack_id: str) -> Sequence[Stack]:
        """Return the live nested stacks of a stack."""
        return await self._stacks(_CHILDREN, parent=stack_id)

    async def input(self, input_id: str) -> Input:
        """Return an input. Raises NotFoundError and DamagedRecordError."""

        def query(connection: sa.Connection, some: Rows) -> Input:
            # A content is missing if the input was dropped since its row was read.
            with contextlib.suppress(KeyError):
                try:
                    contents = contents_of(connection, some, self._cipher)
                    for row in some:
                        return rows.to_input(row, contents, self._cipher)
                except (KeyError, StoreError, sa.exc.SQLAlchemyError):
                    raise
                except Exception as error:
                    log.exception("input not readable", input=input_id)
                    raise DamagedRecordError("the stored template or its parameters") from error
            raise NotFoundError(f"there is no input {input_id}")

        return await self._read_rows(INPUT, input_id, query)

    async def operations(self, stack_id: str) -> Sequence[Operation]:
        """Return the operations that are not final, oldest first."""
        return await self._read_rows(
            _OPEN_OPERATIONS, stack_id, lambda _, some: self._to_operations(some)
        )

    def _to_operations(self, some: Rows) -> list[Operation]:
        return [rows.to_operation(row, self._cipher) for row in some]

    async def queue(self, stack_id: str) -> Sequence[Queued]:
        """Return the operations that are not final, oldest first, without their plans."""
        return await self._read_rows(queries.QUEUE, stack_id, lambda _, some: queries.queued(some))

    async def unsettled_inputs(self, stack_id: str) -> frozenset[str]:
        """Return the ids of inputs before and after each operation since the last success."""

        def ids(_: sa.Connection, some: Rows) -> frozenset[str]:
            found = (row[name] for row in some for name in ("input_id", "back_to"))
            return frozenset(filter(None, found))

        return await self._read_rows(queries.UNSETTLED_INPUTS, stack_id, ids)

    async def parts(self, stack_id: str, parent_operation: str) -> Sequence[Queued]:
        """Return the operations of a stack that are part of one of its parent."""
        return await self._read(
            lambda connection: queries.parts(connection, stack_id, parent_operation)
        )

    async def operation_status(self, operation_id: str) -> tuple[OperationStatus, str] | None:
        """Return the status of an operation and the reason."""

        def query(_: sa.Connection, some: Rows) -> tuple[OperationStatus, str] | None:
            for row in some:
                return OperationStatus(row["status"]), row["reason"]
            return None

        return await self._read_rows(_STATUS, operation_id, query)

    async def operation(self, operation_id: str) -> Operation | None:
        """Return an operation."""
        return await self._read_rows(
            OPERATION, operation_id, lambda _, some: next(iter(self._to_operations(some)), None)
        )

    async def unfinished_stacks(self) -> Sequence[str]:
        """Return the ids of the stacks with operations that are not final."""
        columns = tables.operations.c
        select = sa.select(columns.stack_id).where(columns.status.in_(tables.OPEN)).distinct()
        return await self._read(lambda connection: list(connection.execute(select).scalars()))

    async def events(self, stack_ids: Sequence[str], query: EventQuery) -> Sequence[Event]:
        """Return the events that match, in order."""
        select = queries.event_page(stack_ids, query)
        return await self._read(
            lambda connection: [
                rows.to_event(row, self._cipher) for row in rows.dicts(connection.execute(select))
            ]
        )

    async def event(self, stack_id: str, event_id: str) -> Event | None:
        """Return an event."""
        columns = tables.events.c
        select = sa.select(tables.events).where(
            columns.stack_id == stack_id, columns.id == event_id
        )

        def query(connection: sa.Connection) -> Event | None:
            row = connection.execute(select).mappings().one_or_none()
            return None if row is None else rows.to_event(row, self._cipher)

        return await self._read(query)

    async def signals(
        self,
        stack_id: str,
        known: Mapping[str, StoredSignal] = MappingProxyType({}),
        resource_id: str | None = None,
    ) -> Sequence[StoredSignal]:
        """Return the signals of a stack's resources, or of one of them, oldest first.

        Signals that are ``known`` by id are not read again.
        """
        batched, owner = _SIGNAL_IDS, stack_id
        if resource_id is not None:
            batched, owner = _SIGNAL_IDS_OF_RESOURCE, resource_id
        return await self._read_rows(
            batched, owner, lambda connection, ids: _signals(connection, self._cipher, ids, known)
        )

    async def agenda(
        self, stack_id: str, known: Mapping[str, StoredSignal]
    ) -> tuple[Sequence[StoredSignal], Sequence[Operation]]:
        """Return the signals of a stack's resources, and its operations that are not final."""
        return await self._read_rows_of_one_moment(
            (_SIGNAL_IDS, _OPEN_OPERATIONS),
            stack_id,
            lambda connection, ids, operations: (
                _signals(connection, self._cipher, ids, known),
                self._to_operations(operations),
            ),
        )


def _signals(
    connection: sa.Connection, cipher: Cipher, named: Rows, known: Mapping[str, StoredSignal]
) -> list[StoredSignal]:
    ids = [row["id"] for row in named]
    stored = {id_: known[id_] for id_ in ids if id_ in known}
    new = [id_ for id_ in ids if id_ not in known]
    for begin in range(0, len(new), _AT_ONCE):
        some = {"ids": new[begin : begin + _AT_ONCE]}
        for row in rows.dicts(connection.execute(_SIGNALS, some)):
            signal = rows.to_signal(row, cipher)
            if signal is not None:
                stored[signal.id] = signal
    return [stored[id_] for id_ in ids if id_ in stored]
