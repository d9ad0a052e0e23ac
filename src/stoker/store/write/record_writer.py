"""Writes records to their tables.

In: the records and keys of many changes. Out: few statements, one for each kind of record in the
changes. The order is that of :data:`stoker.store.schema.tables.RECORDS`, so that concurrent
transactions lock rows in the same order.

Events and messages are written at the end of a transaction, by
:mod:`stoker.store.write.change_writer`, which is the caller. Tested by tests/store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from stoker.engine.model.records import Event, Input, Message, Stack
from stoker.engine.model.stack_records.change_sets import ChangeSetExecution
from stoker.engine.model.stack_records.exports import Exports
from stoker.engine.model.stack_records.revisions import StackRevision
from stoker.engine.model.storage.changes import AnyRecord, Change
from stoker.store.records.change_sets import put_executions
from stoker.store.records.exports import put_exports
from stoker.store.records.inputs import put_inputs
from stoker.store.schema.columns import RecordTable
from stoker.store.schema.tables import RECORDS
from stoker.store.sql.compiled import Delete, Insert, Inserts, Trim
from stoker.store.sql.encryption import Cipher
from stoker.store.sql.rows import to_row

Puts = Mapping[type[AnyRecord], Sequence[Any]]  # records by their kind

WRITTEN_LAST = frozenset({Event, Message})
_ORDER = {kind: position for position, kind in enumerate(RECORDS)}
# Kinds whose records are more than one row of one table.
_REVISIONS = Insert(RECORDS[StackRevision].table, "id")


def _put_revisions(inserts: Inserts, revisions: Sequence[StackRevision], cipher: Cipher) -> None:
    stacks = sorted((each.stack for each in revisions), key=lambda stack: stack.id)
    inserts.add(_REVISIONS, [to_row(stack.acquired, cipher) for stack in stacks])


_OWN_WAY: Mapping[type[Struct], Callable[[Inserts, Sequence[Any], Cipher], None]] = {
    Input: put_inputs,
    StackRevision: _put_revisions,
    Exports: put_exports,
    ChangeSetExecution: put_executions,
}


class _Statements:
    """The statements for one kind of record."""

    def __init__(self, kind: type[Struct], stored: RecordTable) -> None:
        self._insert = Insert(stored.table, stored.key, keep=stored.keep)
        # Of several records of one row, write only the last, unless an earlier one is kept in part.
        self._key = None if stored.keep else stored.key
        # Nested stacks are also written by the owners of their parents. Sorting prevents deadlocks.
        self._sorts = kind is Stack
        self._newest = None if stored.newest is None else stored.newest[0].key
        self._trim = None if stored.newest is None else Trim(*stored.newest)
        self._deletes = [Delete(column, stored.unless_in) for column in stored.dropped]

    def put(self, inserts: Inserts, records: Sequence[Any], cipher: Cipher) -> None:
        """Insert or update the rows of records."""
        if len(records) > 1:
            if self._key is not None:
                records = list({getattr(record, self._key): record for record in records}.values())
            if self._sorts:
                records = sorted(records, key=lambda record: record.id)
        inserts.add(self._insert, list(map(to_row, records, repeat(cipher))))
        if self._trim is not None:
            inserts.flush()
            owners = {getattr(each, self._newest or "") for each in records}
            self._trim.execute(inserts.connection, owners)

    def drop(self, connection: sa.Connection, ids: Sequence[str]) -> None:
        """Delete the rows of records and the rows that belong to them."""
        for delete in self._deletes:
            delete.execute(connection, ids)


STATEMENTS = {kind: _Statements(kind, stored) for kind, stored in RECORDS.items()}


def write_events(connection: sa.Connection, events: Sequence[Event], cipher: Cipher) -> None:
    """Write events, whose numbers the transaction has locked."""
    inserts = Inserts(connection)
    STATEMENTS[Event].put(inserts, events, cipher)
    inserts.flush()


def write_records(connection: sa.Connection, changes: Iterable[Change], cipher: Cipher) -> Puts:
    """Write the records of changes, except events and messages; return all records by kind.

    All puts precede all drops: a signal that arrives while its resource is dropped is dropped, too.
    """
    puts: dict[type[AnyRecord], list[Any]] = {}
    drops: dict[type[AnyRecord], list[str]] = {}
    for change in changes:
        for record in change.puts:
            puts.setdefault(type(record), []).append(record)
        for key in change.drops:
            drops.setdefault(key.kind, []).append(key.id)
    inserts = Inserts(connection)
    for kind in sorted(puts, key=_ORDER.__getitem__):
        if kind not in WRITTEN_LAST:
            put = _OWN_WAY.get(kind) or STATEMENTS[kind].put
            put(inserts, puts[kind], cipher)
    inserts.flush()
    for kind in sorted(drops, key=_ORDER.__getitem__):
        STATEMENTS[kind].drop(connection, drops[kind])
    return puts
