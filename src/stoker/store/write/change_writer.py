"""Writes changes: many in one transaction, each of them completely or not at all.

In: changes that became ready together. Out: for each change, None or the error that rejected it. An
owner's change is rejected unless its stack still has the fencing token of the change. A public
change is rejected if its name is in use, or by one of its guards, which see all changes before it.

Events are written last, so that a transaction that has the lock of their numbers waits for no other
lock. Called by :mod:`stoker.store.write.group_commit`. Tested by tests/store/test_group_commit.py,
test_ownership.py and test_simultaneous_writes.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.interfaces import FencedError, StoreError
from stoker.engine.model.records import Event, Message, Operation, Stack
from stoker.engine.model.storage.changes import (
    AnyRecord,
    Change,
    OwnerChange,
    PublicChange,
    records_of,
)
from stoker.store.ownership.acquire import Defer, take_new
from stoker.store.records.content_rows import lock_event_numbers
from stoker.store.records.outbox import SqlOutbox
from stoker.store.schema import tables
from stoker.store.sql.compiled import InList
from stoker.store.sql.encryption import Cipher, EncryptOnce
from stoker.store.write.names import Names, names_of_new
from stoker.store.write.record_writer import put, write_records
from stoker.store.write.transaction_reader import SqlTransactionReader


def write(
    connection: sa.Connection,
    changes: Sequence[Change],
    cipher: Cipher,
    outbox: SqlOutbox,
    defer: Defer | None = None,
) -> list[Exception | None]:
    """Write the changes inside the connection's transaction, in their order.

    Returns None for each written change, and an error for each rejected one. Without ``defer``,
    this process acquires new stacks that it wants to drive.
    """
    refusals = _fence(connection, changes)
    transaction = _Transaction(connection, changes, EncryptOnce(cipher))
    for index, change in enumerate(changes):
        if refusals[index] is None and isinstance(change, PublicChange):
            refusals[index] = transaction.refusal(change)
        if refusals[index] is None:
            transaction.unwritten.append(change)
    transaction.finish(outbox, defer)
    return refusals


_TOKENS = InList(
    # All transactions lock stacks in the order of their ids.
    sa.select(tables.stacks.c.id, tables.stacks.c.fencing_token.label("token"))
    .order_by(tables.stacks.c.id)
    .with_for_update(),
    tables.stacks.c.id,
)


def _fence(connection: sa.Connection, changes: Sequence[Change]) -> list[Exception | None]:
    """Lock the stacks whose rows change or that guards read; return errors for lost stacks."""
    held = set()
    for change in changes:
        if isinstance(change, OwnerChange) or _adds_operation(change):
            held.add(change.stack_id)
    tokens = {}
    for row in _TOKENS.find(connection, held):
        tokens[row["id"]] = row["token"]
    refusals: list[Exception | None] = []
    for change in changes:
        owns = (
            isinstance(change, PublicChange) or tokens.get(change.stack_id) == change.fencing_token
        )
        refusals.append(None if owns else FencedError(change.stack_id))
    return refusals


def _adds_operation(change: PublicChange) -> bool:
    """Return whether a change adds an operation to an existing stack.

    A new stack is not locked: no other transaction knows it yet.
    """
    is_new = any(stack.id == change.stack_id for stack in records_of(change, Stack))
    return not is_new and bool(records_of(change, Operation))


class _Transaction:
    """The state of one transaction: the allowed changes, and the records that are written."""

    def __init__(
        self, connection: sa.Connection, changes: Sequence[Change], cipher: Cipher
    ) -> None:
        self.unwritten: list[Change] = []  # allowed; written when a guard reads, or at the end
        self._connection = connection
        self._changes = changes
        self._cipher = cipher
        self._names: Names | None = None
        self._reader: SqlTransactionReader | None = None
        self._written: list[Change] = []
        self._records = defaultdict[type[AnyRecord], list[Any]](list)  # written ones by kind

    def refusal(self, change: PublicChange) -> Exception | None:
        """Return the error that rejects a change, or None."""
        if names_of_new(change):
            if self._names is None:
                self._names = Names(self._connection, self._changes)
            refused = self._names.refusal(change)
            if refused is not None:
                return refused
        if change.guards:
            try:
                reader = self._reader_for_guards()
                for guard in change.guards:
                    guard(reader)
            except (StoreError, sa.exc.SQLAlchemyError):
                raise
            except Exception as refused:  # noqa: BLE001 - the caller that waits for it gets it
                return refused
        if self._names is not None:
            self._names.use(change)
        return None

    def _reader_for_guards(self) -> SqlTransactionReader:
        if self._reader is None:
            self._reader = SqlTransactionReader(
                self._connection, self._cipher, self.unwritten, self.flush
            )
        return self._reader

    def flush(self) -> None:
        """Write the allowed changes, except events and messages."""
        if not self.unwritten:
            return
        for kind, records in write_records(self._connection, self.unwritten, self._cipher).items():
            self._records[kind] += records
        self._written += self.unwritten
        self.unwritten.clear()

    def finish(self, outbox: SqlOutbox, defer: Defer | None) -> None:
        """Write the remaining changes, then messages and events."""
        self.flush()
        connection, events = self._connection, self._records[Event]
        if events or self._records[Message]:
            stacks = {stack.id: stack for stack in self._records[Stack]}
            outbox.add(connection, events, stacks, self._records[Message], self._cipher)
        if defer is not None:
            defer(connection, self._written, outbox.has_news)
        # Write events last. A transaction with the lock of the event numbers must not wait for
        # other locks, because all other writers wait for it.
        if events:
            lock_event_numbers(connection)
            put(connection, Event, events, self._cipher)
        if defer is None:
            take_new(connection, self._written)
