"""Acquisitions of stacks, and the count of those without progress.

A stack whose operation kills its engine, or makes every driver fail, is acquired again and again.
Its operation makes no progress: no event of a resource or of the stack is written between two
acquisitions. If only the engine was killed, there is progress.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from stoker.engine.model.interfaces import COUNTED_AT_ONCE, FencedError
from stoker.engine.model.records import (
    AcquiredStack,
    Input,
    Open,
    Operation,
    Stack,
    current_operation,
)
from stoker.engine.model.storage.changes import Change, records_of
from stoker.store.read import queries, reads
from stoker.store.schema.tables import events, stacks
from stoker.store.sql import rows
from stoker.store.sql.compiled import InList, found, prepared
from stoker.store.sql.encryption import Cipher

_STACK: sa.BindParameter[str] = sa.bindparam("stack", None, sa.String)
_OPERATION: sa.BindParameter[str | None] = sa.bindparam("operation", None, sa.String)


def _acquiring(stack: sa.ColumnElement[str], operation_id: sa.ColumnElement[str | None]) -> Any:
    # Signals arrive even if no engine drives the stack.
    last = (
        sa.select(events.c.number)
        .where(events.c.stack_id == stack, events.c.action != "SIGNAL")
        .order_by(events.c.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    counted = stacks.c.take_ups
    in_vain = sa.and_(
        stacks.c.taken_for == operation_id,
        sa.func.coalesce(stacks.c.taken_event, 0) == sa.func.coalesce(last, 0),
    )
    # In one statement, so that two concurrent acquisitions get different fencing tokens.
    return (
        stacks.update()
        .where(stacks.c.id == stack)
        .values(
            fencing_token=stacks.c.fencing_token + 1,
            take_ups=sa.case(
                (sa.not_(in_vain), 1),
                (in_vain.is_(None), 1),
                (counted < COUNTED_AT_ONCE, counted + 1),
                else_=counted,
            ),
            taken_for=operation_id,
            taken_event=last,
        )
    )


def _acquiring_all() -> Any:
    """Return the same for a list of stacks.

    All transactions lock them in the order of their ids.
    """
    lists = (sa.bindparam(name, None, sa.ARRAY(sa.Text)) for name in ("stack", "operation"))
    listed = sa.func.unnest(*lists).table_valued("stack", "operation").render_derived("given")
    held = sa.select(listed).join(stacks, stacks.c.id == listed.c.stack).order_by(stacks.c.id)
    locked = held.with_for_update(of=stacks).subquery("locked")
    return _acquiring(locked.c.stack, locked.c.operation)


_ACQUIRE, _ACQUIRE_ALL = _acquiring(_STACK, _OPERATION), _acquiring_all().returning(stacks)
_ACQUIRED = InList(sa.select(stacks), stacks.c.id)


# Requests turns for the stacks of written changes, and notifies of messages if there are any.
Defer = Callable[[sa.Connection, Sequence[Change], bool], None]


class AcquireRequest(Struct, frozen=True):
    """The acquisition of a stack, which shares a transaction with others."""

    stack_id: str


def acquire_new(connection: sa.Connection, changes: Iterable[Change]) -> None:
    """Acquire the new stacks of changes, together with their operations."""
    new = []
    for change in changes:
        for stack_id in change.acquires:
            operations = records_of(change, Operation)
            new.append(_named(stack_id, [op for op in operations if op.stack_id == stack_id]))
    if new:
        _raise_tokens(connection, new)


def acquire_open(
    connection: sa.Connection, stack_ids: Iterable[str], cipher: Cipher
) -> dict[str, AcquiredStack]:
    """Raise the fencing token of each stack with an open operation; return these by id.

    A higher token of another stack would disturb those that rely on its rest.
    """
    queues = queries.QUEUE.find(connection, set(stack_ids))
    busy_ids = [stack_id for stack_id in sorted(queues) if queues[stack_id]]
    if not busy_ids:
        return {}
    named = [_named(stack_id, queries.queued(queues[stack_id])) for stack_id in busy_ids]
    acquired = _raise_tokens(connection, named) or _ACQUIRED.find(connection, busy_ids)
    stacks_ = [rows.to_stack(row, cipher, None) for row in acquired]
    new = [each.id for each in stacks_ if each.fencing_token == 1 and len(queues[each.id]) == 1]
    first = _first_operations(connection, [queues[id_][0]["id"] for id_ in new], cipher)
    return {each.id: AcquiredStack(each, *first.get(each.id, ())) for each in stacks_}


def _first_operations(
    connection: sa.Connection, ids: Sequence[str], cipher: Cipher
) -> dict[str, tuple[Operation, Input | None]]:
    """Return operations with their inputs, by stack, except unreadable ones.

    A separate read of those raises an error with the reason.
    """
    operations = reads.OPERATION.find(connection, ids)
    stored = [row for some in operations.values() for row in some]
    inputs = reads.INPUT.find(connection, {row["input_id"] for row in stored} - {None})
    contents: Mapping[str, Any] = {}
    with contextlib.suppress(Exception):
        every = [row for some in inputs.values() for row in some]
        contents = reads.contents_of(connection, every, cipher)
    first = {}
    for row in stored:
        with contextlib.suppress(Exception):
            some = inputs.get(row["input_id"], ())
            reached = [rows.to_input(each, contents, cipher) for each in some]
            first[row["stack_id"]] = rows.to_operation(row, cipher), next(iter(reached), None)
    return first


def _raise_tokens(
    connection: sa.Connection, named: Sequence[dict[str, str | None]]
) -> Sequence[rows.Row]:
    """Acquire stacks. A server does it in one statement, which returns their rows."""
    if connection.dialect.name == "sqlite":
        prepared(connection, _ACQUIRE).execute(connection, *named)
        return ()
    lists = {name: [each[name] for each in named] for name in ("stack", "operation")}
    return found(connection, _ACQUIRE_ALL, **lists)


def _named(stack_id: str, open_: Sequence[Open]) -> dict[str, str | None]:
    first = current_operation(open_)
    return {"stack": stack_id, "operation": None if first is None else first.id}


def count(connection: sa.Connection, stack: Stack) -> None:
    """Count one more acquisition. Raises FencedError."""
    _set(connection, stack, take_ups=stacks.c.take_ups + 1)


def forget(connection: sa.Connection, stack: Stack) -> None:
    """Reset the count. Raises FencedError."""
    _set(connection, stack, take_ups=0)


def release(connection: sa.Connection, stack: Stack) -> None:
    """Release the stack after driving without failure. Raises FencedError."""
    _set(connection, stack, take_ups=0, handed_over=stack.fencing_token)


def _set(connection: sa.Connection, stack: Stack, **values: object) -> None:
    statement = (
        stacks.update()
        .where(stacks.c.id == stack.id, stacks.c.fencing_token == stack.fencing_token)
        .values(**values)
    )
    if connection.execute(statement).rowcount != 1:
        raise FencedError(stack.id)
