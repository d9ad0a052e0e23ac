"""Changes of the store's records. Each is written in one transaction.

A change is a list of records to put and of keys to drop. The store writes all of it or nothing.
There are two kinds, by who may write them. A :class:`PublicChange` adds to a stack, no matter which
engine owns it; its guards check inside the transaction that its conditions still hold. It writes
rows of resources only with guards that no engine drives their stacks. An
:class:`OwnerChange` is written only while the stack has the fencing token of the change, so that an
engine that has lost the stack writes nothing more.

The service builds public changes, and the session of a driver builds owner changes. Observers of
the store get each change after its commit. :mod:`stoker.store.schema.tables` defines the stored
form of each record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from stoker.engine.model.records import PublicRecord, Record, Resource
from stoker.engine.model.stack_records.exports import Exports
from stoker.engine.model.storage.transaction import TransactionReader
from stoker.schema.software import Deployment, SoftwareConfig

Software = SoftwareConfig | Deployment
AnyRecord = Record | Software
R = TypeVar("R", bound=AnyRecord)
Kind = TypeVar("Kind", bound=AnyRecord, covariant=True)

# A check inside the transaction of a change. An error that it raises rejects the change. It runs on
# the store's thread, so it must neither compute long nor wait.
Guard = Callable[[TransactionReader], None]


class Key(Struct, Generic[Kind], frozen=True):
    """Identifies a record. A watch has the id of its resource."""

    kind: type[Kind]
    id: str


class PublicChange(Struct, frozen=True):
    """A change that anyone may write: requests, signals and their events."""

    stack_id: str  # empty for software of no stack
    puts: Sequence[PublicRecord | Software | Resource | Exports] = ()
    drops: Sequence[Key[PublicRecord | Software | Resource]] = ()
    guards: Sequence[Guard] = ()  # run in this order; the first error rejects the change
    # Ids of new stacks that this engine acquires in the same transaction.
    acquires: Sequence[str] = ()


class OwnerChange(Struct, frozen=True):
    """A change that only the owner of a stack may write."""

    stack_id: str
    fencing_token: int
    puts: Sequence[AnyRecord] = ()  # a put of the stack does not change its fencing token
    drops: Sequence[Key[AnyRecord]] = ()  # with a resource, its signals and its watch are dropped
    acquires: Sequence[str] = ()


Change = PublicChange | OwnerChange


def records_of(change: Change, kind: type[R]) -> list[R]:
    """Return the records of a kind that a change puts, in their order."""
    return [record for record in change.puts if isinstance(record, kind)]
