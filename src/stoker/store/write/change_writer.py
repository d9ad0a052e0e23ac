"""Writes changes: many in one transaction, each fenced by its stack's token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

import sqlalchemy as sa

from stoker.engine.model.interfaces import (
    Change,
    FencedError,
    Guard,
    OwnerChange,
    PublicChange,
    StoreError,
)
from stoker.store.ownership.acquire import Defer, take_new
from stoker.store.records.content_rows import lock_event_numbers, upsert_contents
from stoker.store.records.outbox import SqlOutbox, sink_rows
from stoker.store.records.watches import OF_WATCHED
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.bulk import delete, insert
from stoker.store.sql.compiled import InList
from stoker.store.sql.encryption import Cipher, EncryptOnce
from stoker.store.write.names import Names
from stoker.store.write.transaction_reader import SqlTransactionReader
from stoker.store.write.user_records import write_kept


def write(
    connection: sa.Connection,
    changes: Sequence[Change],
    cipher: Cipher,
    outbox: SqlOutbox,
    defer: Defer | None = None,
) -> list[Exception | None]:
    """Write the changes inside the connection's transaction, in their order.

    Returns for each change None, or the error for which it was not written; the others are written.
    Without ``defer``, this process acquires the new stacks that it wants to drive itself.
    """
    verdicts = _fence(connection, changes)
    cipher = EncryptOnce(cipher)
    names = Names(connection, changes)
    inside = SqlTransactionReader(
        connection, cipher, lambda some: _write_all(connection, some, cipher)
    )
    for index, change in enumerate(changes):
        if verdicts[index] is None:
            verdicts[index] = names.refusal(change)
        if verdicts[index] is None and isinstance(change, PublicChange):
            # A guard sees all changes before its own, also those of this transaction.
            verdicts[index] = _refusal(inside, change.guards)
        if verdicts[index] is None:
            names.use(change)
            inside.allow(change)
    inside.settle()
    written = [change for change, refused in zip(changes, verdicts, strict=True) if not refused]
    _tell(connection, written, cipher, outbox, defer)
    return verdicts


def _refusal(inside: SqlTransactionReader, guards: Sequence[Guard]) -> Exception | None:
    """Return the error of the first guard that refuses a change, or None."""
    try:
        for guard in guards:
            guard(inside)
    except (StoreError, sa.exc.SQLAlchemyError):
        raise
    except Exception as refused:  # noqa: BLE001 - the caller that waits for the change gets it
        return refused
    return None


_TOKENS = InList(
    sa.select(tables.stacks.c.id, tables.stacks.c.fencing_token.label("token"))
    .order_by(tables.stacks.c.id)
    .with_for_update(),
    tables.stacks.c.id,
)
"""Locks the stacks, in one order for everybody."""


def _fence(connection: sa.Connection, changes: Sequence[Change]) -> list[Exception | None]:
    """Lock the stacks whose rows change, and those that guards will read.

    A new stack is not locked: no other transaction knows it yet.
    """
    held = {
        each.stack_id
        for each in changes
        if isinstance(each, OwnerChange)
        or (each.operations and all(new.id != each.stack_id for new in each.stacks))
    }
    tokens = {row["id"]: row["token"] for row in _TOKENS.find(connection, held)}
    return [
        None
        if isinstance(change, PublicChange) or tokens.get(change.stack_id) == change.fencing_token
        else FencedError(change.stack_id)
        for change in changes
    ]


def _write_all(connection: sa.Connection, changes: Sequence[Change], cipher: Cipher) -> None:
    owned = [change for change in changes if isinstance(change, OwnerChange)]
    added = [change for change in changes if isinstance(change, PublicChange)]
    _write_inputs(connection, changes, cipher)
    stacks = [rows.to_row(stack, cipher) for change in changes for stack in change.stacks]
    # in one order by everybody, as nested stacks are written by others than their owners, too
    stacks.sort(key=itemgetter("id"))
    insert(connection, tables.stacks, stacks, "id", keep=("fencing_token",))
    operations = [rows.to_row(op, cipher) for change in changes for op in change.operations]
    insert(connection, tables.operations, operations, "id")
    # of several changes to one row only the last counts
    latest = {row.id: row for change in owned for row in change.resources}
    resources = [rows.to_row(row, cipher) for row in latest.values()]
    insert(connection, tables.resources, resources, "id")
    signals = [rows.to_row(signal, cipher) for change in added for signal in change.signals]
    insert(connection, tables.signals, signals)
    dropped = [row_id for change in owned for row_id in change.dropped_resources]
    for column in (tables.resources.c.id, tables.signals.c.resource_id, *OF_WATCHED):
        delete(connection, column, dropped)
    _write_snapshots(connection, changes, owned, cipher)
    write_kept(connection, changes, cipher)
    heard = [signal_id for change in owned for signal_id in change.dropped_signals]
    delete(connection, tables.signals.c.id, heard)


def _tell(
    connection: sa.Connection,
    changes: Sequence[Change],
    cipher: Cipher,
    outbox: SqlOutbox,
    defer: Defer | None,
) -> None:
    """Write the events last.

    A transaction with the lock of the event numbers must not wait for other locks, because all
    other writers wait for it.
    """
    events = [rows.to_row(event, cipher) for change in changes for event in change.events]
    outbox.add(connection, changes, cipher)
    if defer is not None:
        defer(connection, changes, outbox.has_news)
    if events:
        lock_event_numbers(connection)
        insert(connection, tables.events, events)
    if defer is None:
        take_new(connection, changes)


def _write_inputs(connection: sa.Connection, changes: Sequence[Change], cipher: Cipher) -> None:
    contents: dict[str, Callable[[], str]] = {}
    inputs, sinks = [], []
    for change in changes:
        for record in change.inputs:
            row, bodies = rows.to_input_rows(record, cipher)
            inputs.append(row)
            contents |= bodies
            sinks += sink_rows(record)
    upsert_contents(connection, contents)
    insert(connection, tables.inputs, inputs)
    insert(connection, tables.event_sinks, sinks)


def _write_snapshots(
    connection: sa.Connection,
    changes: Sequence[Change],
    owned: Sequence[OwnerChange],
    cipher: Cipher,
) -> None:
    snapshots = [rows.to_row(each, cipher) for change in changes for each in change.snapshots]
    insert(connection, tables.snapshots, snapshots, "id")
    parts = [rows.to_row(part, cipher) for change in owned for part in change.snapshot_parts]
    insert(connection, tables.snapshot_parts, parts, "id")
    gone = [id_ for change in owned for id_ in change.dropped_snapshots]
    delete(connection, tables.snapshots.c.id, gone)
    gone = [id_ for change in owned for id_ in change.dropped_snapshot_parts]
    delete(connection, tables.snapshot_parts.c.id, gone)
