"""Writes changes: many in one transaction, each of them completely or not at all.

In: changes that became ready together. Out: for each change, None or the error that rejected it. An
owner's change is rejected unless its stack still has the fencing token of the change. A public
change is rejected if its name is in use, or by one of its guards, which see all changes before it.

Events are written last, so that a transaction that has the locks of their numbers waits for no
other lock. Called by :mod:`stoker.store.write.group_commit`. Tested by
tests/store/test_group_commit.py, test_ownership.py and test_simultaneous_writes.py.
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
)
from stoker.kernel.errors import name_taken
from stoker.store.ownership.acquire import Defer, acquire_new
from stoker.store.read import queries
from stoker.store.records.outbox import SqlOutbox
from stoker.store.schema import tables
from stoker.store.sql.compiled import InList
from stoker.store.sql.encryption import Cipher, Hashed
from stoker.store.write.record_writer import write_events, write_records
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
    locked_ids = set()
    for change in changes:
        if isinstance(change, OwnerChange) or _adds_operation(change):
            locked_ids.add(change.stack_id)
    tokens = {}
    for row in _TOKENS.find(connection, locked_ids):
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
    adds_operation = False
    for record in change.puts:
        if isinstance(record, Stack) and record.id == change.stack_id:
            return False
        adds_operation = adds_operation or isinstance(record, Operation)
    return adds_operation


_NAMES = InList(
    sa.select(tables.stacks.c.live_name).where(
        tables.stacks.c.project_id == sa.bindparam("project", None)
    ),
    tables.stacks.c.live_name,
)


def _names_in_use(connection: sa.Connection, changes: Sequence[Change]) -> set[tuple[str, str]]:
    """Return the projects and names of live stacks, among those of new stacks."""
    new_names = defaultdict[str, set[str]](set)
    for change in changes:
        if isinstance(change, PublicChange):
            for project_id, name in _names_of_new(change):
                new_names[project_id].add(name)
    used = set()
    for project_id, names in new_names.items():
        for row in _NAMES.find(connection, names, project=project_id):
            used.add((project_id, row["live_name"]))
    return used


def _names_of_new(change: PublicChange) -> list[tuple[str, str]]:
    """Return the projects and names of new stacks. Nested stacks have no name of their own."""
    return [
        (record.project_id, record.name)
        for record in change.puts
        if isinstance(record, Stack) and record.parent_id is None
    ]


class _Transaction:
    """The state of one transaction: the allowed changes, and the records that are written."""

    def __init__(
        self, connection: sa.Connection, changes: Sequence[Change], cipher: Cipher
    ) -> None:
        self.unwritten: list[Change] = []  # allowed; written when a guard reads, or at the end
        self._connection = connection
        self._changes = changes
        self._cipher = cipher
        self._names: set[tuple[str, str]] | None = None  # in use; read for the first new stack
        self._reader: SqlTransactionReader | None = None
        self._written: list[Change] = []
        self._records = defaultdict[type[AnyRecord], list[Any]](list)  # written ones by kind

    def refusal(self, change: PublicChange) -> Exception | None:
        """Return the error that rejects a change, or None."""
        new = _names_of_new(change)
        if new and self._names is None:
            self._names = _names_in_use(self._connection, self._changes)
        for project_id, name in new:
            if (project_id, name) in (self._names or ()):
                return name_taken(name)
        if change.guards:
            if self._reader is None:
                self._reader = SqlTransactionReader(
                    self._connection, self._cipher, self.unwritten, self.flush
                )
            try:
                for guard in change.guards:
                    guard(self._reader)
            except (StoreError, sa.exc.SQLAlchemyError):
                raise
            except Exception as refused:  # noqa: BLE001 - the caller that waits for it gets it
                return refused
        if self._names is not None:
            self._names.update(new)
        return None

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
        # It refers to this object. Such a cycle would keep all records in memory for long.
        self._reader = None
        connection = self._connection
        events, messages = self._records[Event], self._records[Message]
        if events or messages:
            outbox.add(connection, events, messages, self._records[Stack], self._cipher)
        if defer is not None:
            defer(connection, self._written, outbox.has_unannounced)
        # Clients that have read an event ask for later ones, so events must appear in the order of
        # their numbers. Write events last. A transaction with the locks of the event numbers must
        # not wait for other locks, because other writers of the same trees wait for it.
        if events:
            queries.lock_event_numbers(connection, (event.stack_id for event in events))
            write_events(connection, events, self._cipher)
        if defer is None:
            acquiring = [change for change in self._written if change.acquires]
            if acquiring:
                acquire_new(connection, acquiring)


class EncryptOnce:
    """Encrypts each value of a transaction once.

    A resource and its events share their properties, and the inputs of nested stacks their
    templates. Values are recognized by their identity; a reference to each keeps its id from being
    used for another.
    """

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher
        self.contents = cipher.contents
        self._encrypted: dict[int, tuple[Any, str]] = {}
        self._hashed: dict[int, tuple[Any, Hashed]] = {}

    def encrypt(self, value: Any) -> str:
        """Return the encrypted text."""
        known = self._encrypted.get(id(value))
        if known is None:
            known = self._encrypted[id(value)] = (value, self._cipher.encrypt(value))
        return known[1]

    def hashed(self, value: Any) -> Hashed:
        """Return the SHA-256 of the plain text, and a function that encrypts it."""
        known = self._hashed.get(id(value))
        if known is None:
            known = self._hashed[id(value)] = (value, self._cipher.hashed(value))
        return known[1]

    def decrypt(self, text: str) -> Any:
        """Return the decrypted value."""
        return self._cipher.decrypt(text)

    def decrypt_content(self, text: str) -> tuple[Any, int]:
        """Return the value of a content, and the length of its JSON text."""
        return self._cipher.decrypt_content(text)
