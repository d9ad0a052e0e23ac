"""The store, as the engine sees it.

The engine passes changes (:mod:`stoker.engine.model.storage.changes`), and reads records. A commit
that has returned is durable, and every later read sees it. Each method may raise
:class:`StoreError`.

The implementation is :class:`stoker.store.store.SqlStore`. The tests of both databases are in
tests/store; the simulation wraps the store to let it fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from stoker.engine.model.records import (
    AcquiredStack,
    Event,
    Input,
    Operation,
    OperationStatus,
    Queued,
    Resource,
    Stack,
    StoredSignal,
    TreeState,
)
from stoker.engine.model.requests import EventQuery, StackQuery
from stoker.engine.model.stack_records.change_sets import (
    ChangeSetReads,
    DetectionReads,
    ProtectionReads,
)
from stoker.engine.model.stack_records.client_tokens import ClientTokenReads
from stoker.engine.model.stack_records.exports import ExportReads
from stoker.engine.model.stack_records.snapshots import SnapshotReads
from stoker.engine.model.stack_records.watches import WatchReads
from stoker.engine.model.storage.changes import Change
from stoker.engine.model.storage.software import SoftwareReads
from stoker.kernel.errors import MachineError


class FencedError(Exception):
    """Another engine owns the stack now. The driver must stop and write nothing more."""


class StoreError(Exception):
    """The store failed. Whether a write was done may be unknown.

    Rows in memory are no longer valid: the driver ends, and starts again from the stored rows.
    ``passing`` means that the database is locked, full or out of reach, so that a retry may
    succeed; ``is_full`` means that its disk is full.
    """

    def __init__(self, reason: str, *, passing: bool, is_full: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing
        self.is_full = is_full


# Errors that end the turn of a driver wherever they occur. None of them is a response of a cloud,
# so no resource may fail because of one: code that catches all exceptions re-raises these.
ENDS_TURN = (FencedError, StoreError, MachineError)


def is_passing(error: Exception) -> bool:
    """Return whether a retry may succeed without a change of anything."""
    return isinstance(error, MachineError) or (isinstance(error, StoreError) and error.passing)


COUNTED_AT_ONCE = 3  # acquisitions without progress that are counted without a delay


class StackOwnership(Protocol):
    """The ownership of stacks by engines, and the end of stacks that no engine can drive."""

    @property
    def latency(self) -> float:
        """Seconds that recent writes of this process took; 0 without recent writes.

        A slow engine acquires few more stacks.
        """

    async def take(self, stack_id: str) -> AcquiredStack | None:
        """Raise the fencing token of a stack and return it; only this engine may write it then.

        Returns None for a stack without an open operation: a higher token would disturb those that
        rely on its rest.

        Acquisitions for the same operation without an event in between are counted, up to
        :data:`COUNTED_AT_ONCE`; further ones are counted by :meth:`count_take_up`.
        """

    async def count_take_up(self, stack: Stack) -> None:
        """Count one more acquisition without progress. Raises :class:`FencedError`."""

    async def forget_take_ups(self, stack: Stack) -> None:
        """Reset the count, because the operation makes progress."""

    async def hand_over(self, stack: Stack) -> None:
        """Release a stack for which no call is in flight. Raises :class:`FencedError`."""

    async def tree(self, stack_id: str) -> TreeState:
        """Return the state of a stack and its nested stacks."""

    async def count_resources(self, root_id: str, besides: str) -> int:
        """Return the number of resources in the live stacks of a tree, except one stack."""

    async def values_size(self, root_id: str, stack_id: str) -> tuple[int, int]:
        """Return the bytes of the values of a stack's resources, and of the rest of its tree."""

    async def give_up(self, stack_id: str, reason: str, now: float) -> None:
        """Mark the operations of a stack as failed and raise its fencing token.

        For a stack that no engine can drive. Reads nothing that may be unreadable.
        """


class Observer(Protocol):
    """Receives written changes."""

    def committed(self, change: Change, *, certain: bool) -> None:
        """Handle a change that was written or, if not ``certain``, may have been. Does not wait."""


class RecordsOfUsers(Protocol):
    """Reads of records other than stacks and their resources."""

    @property
    def software(self) -> SoftwareReads:
        """Software configs and deployments."""

    @property
    def watches(self) -> WatchReads:
        """Watches and their measurements."""

    @property
    def change_sets(self) -> ChangeSetReads:
        """Change sets."""

    @property
    def protections(self) -> ProtectionReads:
        """Protections of stacks."""

    @property
    def detections(self) -> DetectionReads:
        """Detections of drift."""

    @property
    def exports(self) -> ExportReads:
        """Exports of stacks, and their importers."""

    @property
    def client_tokens(self) -> ClientTokenReads:
        """Requests by their client tokens."""


class Store(StackOwnership, RecordsOfUsers, SnapshotReads, Protocol):
    """Durable records."""

    def observe(self, observer: Observer) -> None:
        """Notify the observer of every change from now on."""

    async def commit(self, change: Change) -> None:
        """Write a change. Changes of one turn of the event loop share a transaction.

        Raises :class:`FencedError` if the stack no longer has the fencing token of the change,
        :class:`stoker.kernel.errors.AlreadyExistsError` for a second live stack of one name, and
        any error that a guard raises.
        """

    async def stack(self, stack_id: str) -> Stack | None:
        """Return a stack by id, also a deleted one."""

    async def find_stack(self, project_id: str | None, name: str) -> Stack | None:
        """Return the live stack of a name; a project of None searches all.

        A nested stack is found only in the project of its stack users.
        """

    async def stacks(self, project_id: str | None, query: StackQuery) -> Sequence[Stack]:
        """Return stacks of a project (None: of all), filtered, sorted and paged."""

    async def count_stacks(self, project_id: str | None, query: StackQuery) -> int:
        """Return the number of stacks that match, on all pages."""

    async def tidy(self, stack_id: str, events: int) -> None:
        """Delete inputs that are no longer used, and all but the newest ``events`` events.

        An input is used by its stack, by a snapshot and by an operation that is not final.
        """

    async def children(self, stack_id: str) -> Sequence[Stack]:
        """Return the live nested stacks of a stack."""

    async def input(self, input_id: str) -> Input:
        """Return an input."""

    async def operations(self, stack_id: str) -> Sequence[Operation]:
        """Return the operations of a stack that are not final, oldest first."""

    async def queue(self, stack_id: str) -> Sequence[Queued]:
        """Return the same operations without their large columns."""

    async def operation(self, operation_id: str) -> Operation | None:
        """Return an operation."""

    async def parts(self, stack_id: str, parent_operation: str) -> Sequence[Queued]:
        """Return the operations of a stack that are part of one of its parent, oldest first."""

    async def operation_status(self, operation_id: str) -> tuple[OperationStatus, str] | None:
        """Return the status of an operation and the reason."""

    async def unfinished_stacks(self) -> Sequence[str]:
        """Return the ids of the stacks that have an operation that is not final."""

    async def resources(self, stack_id: str) -> Sequence[Resource]:
        """Return all resource rows of a stack, also replaced ones, oldest first."""

    async def events(self, stack_ids: Sequence[str], query: EventQuery) -> Sequence[Event]:
        """Return events of stacks, filtered, sorted and paged."""

    async def event(self, stack_id: str, event_id: str) -> Event | None:
        """Return an event."""

    async def signals(
        self,
        stack_id: str,
        known: Mapping[str, StoredSignal] = MappingProxyType({}),
        resource_id: str | None = None,
    ) -> Sequence[StoredSignal]:
        """Return the signals of a stack's resources, or of one of them, oldest first.

        Signals that are ``known`` by id are not read again.
        """

    async def agenda(
        self, stack_id: str, known: Mapping[str, StoredSignal]
    ) -> tuple[Sequence[StoredSignal], Sequence[Operation]]:
        """Return :meth:`signals` and :meth:`operations` in one snapshot, for a driver."""
