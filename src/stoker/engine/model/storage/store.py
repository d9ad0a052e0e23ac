"""The store, as the engine sees it.

The engine passes changes (:mod:`stoker.engine.model.storage.changes`), and reads records. A commit
that has returned is durable, and every later read sees it. Each method may raise
:class:`StoreError`.

The implementation is :class:`stoker.store.store.SqlStore`. The tests of both databases are in
tests/store; the simulation wraps the store to let it fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from stoker.engine.model.requests import EventQuery, Page, StackQuery
from stoker.engine.model.stack_records.change_sets import (
    ChangeSet,
    Detection,
    Protection,
)
from stoker.engine.model.stack_records.client_tokens import RequestWithToken
from stoker.engine.model.stack_records.exports import Export
from stoker.engine.model.stack_records.refactors import StoredRefactor
from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.engine.model.stack_records.watches import Watch
from stoker.engine.model.storage.changes import Change
from stoker.engine.model.storage.overview import OverviewReads
from stoker.kernel.errors import MachineError
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.schema.watching import Measurement


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


class Observer(Protocol):
    """Receives written changes."""

    def committed(self, change: Change, *, certain: bool) -> None:
        """Handle a change that was written or, if not ``certain``, may have been. Does not wait."""


class OperationReads(Protocol):
    """Reads of operations."""

    async def operations(self, stack_id: str) -> Sequence[Operation]:
        """Return the operations of a stack that are not final, oldest first."""

    async def queue(self, stack_id: str) -> Sequence[Queued]:
        """Return the same operations without their large columns."""

    async def unsettled_inputs(self, stack_id: str) -> Collection[str]:
        """Return the ids of inputs before and after each operation since the last success.

        The rows of the stack may have values of any of them. Only whole changes count as success.
        """

    async def operation(self, operation_id: str) -> Operation | None:
        """Return an operation."""

    async def parts(self, stack_id: str, parent_operation: str) -> Sequence[Queued]:
        """Return the operations of a stack that are part of one of its parent, oldest first."""

    async def operation_status(self, operation_id: str) -> tuple[OperationStatus, str] | None:
        """Return the status of an operation and the reason."""

    async def unfinished_stacks(self) -> Sequence[str]:
        """Return the ids of the stacks that have an operation that is not final."""


class StackReads(OperationReads, Protocol):
    """Reads of stacks, operations, resources, events and signals."""

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

    async def children(self, stack_id: str) -> Sequence[Stack]:
        """Return the live nested stacks of a stack."""

    async def input(self, input_id: str) -> Input:
        """Return an input."""

    async def resources(self, stack_id: str) -> Sequence[Resource]:
        """Return all resource rows of a stack, also replaced ones, oldest first."""

    async def outlines(self, stack_id: str) -> Sequence[Resource]:
        """Return the same rows without properties, metadata, attributes and data."""

    async def some_resources(
        self, stack_id: str, names: Collection[str] = (), ids: Collection[str] = ()
    ) -> Sequence[Resource]:
        """Return the resource rows of a stack with one of the names or ids, in any order."""

    async def resource(self, resource_id: str) -> Resource | None:
        """Return one resource row, such as that of a watch."""

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


class UserRecordReads(Protocol):
    """Reads of records other than stacks and their resources."""

    # Change sets, protections and detections of drift

    async def change_sets(self, stack_id: str) -> Sequence[ChangeSet]:
        """Return the change sets of a stack, oldest first, without request and plan."""

    async def change_set(self, stack_id: str, name: str) -> ChangeSet | None:
        """Return the change set of a stack with this name or id."""

    async def protection(self, stack_id: str) -> Protection:
        """Return the protection of a stack; an empty one if nothing was set."""

    async def detection(self, detection_id: str) -> Detection | None:
        """Return one detection."""

    async def latest_detection(self, stack_id: str) -> Detection | None:
        """Return the newest detection of a stack that has ended with a result."""

    # Exports, and requests with client tokens

    async def exports(
        self, project_id: str, names: Iterable[str] | None = None
    ) -> Sequence[Export]:
        """Return the exports of a project, or only those with these names, sorted by name."""

    async def importers(self, project_id: str, names: Iterable[str]) -> Mapping[str, list[str]]:
        """Return the names of the live stacks that use exports, by the name of the export."""

    async def request_with_token(self, project_id: str, text: str) -> RequestWithToken | None:
        """Return the request that a client of the project has made with a token."""

    # Watches

    async def next_watch_at(self) -> float | None:
        """Return the time of the next evaluation of a watch; None without watches."""

    async def due_watches(self, now: float, most: int) -> Sequence[Watch]:
        """Return the watches to evaluate by now, the longest waiting first."""

    async def measurements(self, resource_id: str, since: float) -> Sequence[Measurement]:
        """Return the measurements of a watch since a time, oldest first."""

    async def watches(
        self,
        project_id: str,
        name: str | None = None,
        metric: tuple[str, str] | None = None,
        most: int = 1000,
    ) -> Sequence[Watch]:
        """Return watches of the live stacks of a project, or of those whose stack users are in it.

        ``metric`` is a namespace and the name of a metric in it.
        """

    # Software configs and deployments. A project of None searches all.

    async def software_config(
        self, project_id: str | None, config_id: str
    ) -> SoftwareConfig | None:
        """Return one config."""

    async def software_configs(
        self, project_id: str, ids: Iterable[str]
    ) -> Mapping[str, SoftwareConfig]:
        """Return the existing ones of these configs, by id."""

    async def list_software_configs(
        self, project_id: str | None, page: Page
    ) -> Sequence[SoftwareConfig]:
        """Return configs without their content, oldest first."""

    async def deployment(self, project_id: str | None, deployment_id: str) -> Deployment | None:
        """Return one deployment."""

    async def list_deployments(
        self, project_id: str | None, server_id: str | None, page: Page
    ) -> Sequence[Deployment]:
        """Return deployments to one server or to all, oldest first."""

    async def deployed_configs(self, project_id: str, server_id: str) -> Sequence[SoftwareConfig]:
        """Return the configs of a server's deployments, oldest first."""

    async def resources_of_object(self, project_id: str, physical_id: str) -> Sequence[Resource]:
        """Return the resources of a project's live stacks with this physical id."""

    async def projects_of_users(self, user_project_id: str) -> Sequence[str]:
        """Return the projects of the live stacks with stack users in a user project."""


class Store(StackReads, UserRecordReads, OverviewReads, Protocol):
    """Durable records."""

    def observe(self, observer: Observer) -> None:
        """Notify the observer of every change from now on."""

    async def refactors(self, project_id: str) -> Sequence[StoredRefactor]:
        """Return the refactors of a project, the newest first, without request and effect."""

    async def refactor(self, project_id: str, refactor_id: str) -> StoredRefactor | None:
        """Return a refactor of a project."""

    async def commit(self, change: Change) -> None:
        """Write a change. Changes of one turn of the event loop share a transaction.

        Raises :class:`FencedError` if the stack no longer has the fencing token of the change,
        :class:`stoker.kernel.errors.AlreadyExistsError` for a second live stack of one name, and
        any error that a guard raises.
        """

    async def room(self, wanted: int) -> int:
        """Wait for room; return for how many of the ``wanted`` changes there is, at least one.

        Drivers call this before they start steps. A tree of stacks may have thousands that could
        start together. While many changes of the present project wait, no more are added, and few
        steps start in one turn of the event loop.
        """

    async def tidy(self, stack_id: str, events: int) -> None:
        """Delete inputs that are no longer used, and all but the newest ``events`` events.

        An input is used by its stack, by a snapshot and by an operation that is not final.
        """

    # The owner of a stack

    @property
    def latency(self) -> float:
        """Seconds that recent writes of this process took; 0 without recent writes.

        A slow engine acquires few more stacks.
        """

    async def acquire(self, stack_id: str) -> AcquiredStack | None:
        """Raise the fencing token of a stack and return it; only this engine may write it then.

        Returns None for a stack without an open operation: a higher token would disturb those that
        rely on its rest.

        Acquisitions for the same operation without an event in between are counted, up to
        :data:`COUNTED_AT_ONCE`; further ones are counted by :meth:`count_attempt`.
        """

    async def count_attempt(self, stack: Stack) -> None:
        """Count one more acquisition without progress. Raises :class:`FencedError`."""

    async def reset_attempts(self, stack: Stack) -> None:
        """Reset the count, because the operation makes progress."""

    async def release(self, stack: Stack) -> None:
        """Release a stack for which no call is in flight. Raises :class:`FencedError`."""

    async def give_up(self, stack_id: str, reason: str, now: float) -> None:
        """Mark the operations of a stack as failed and raise its fencing token.

        For a stack that no engine can drive. Reads nothing that may be unreadable.
        """

    # Trees of stacks, and snapshots

    async def tree(self, stack_id: str) -> TreeState:
        """Return the state of a stack and its nested stacks."""

    async def count_resources(self, root_id: str, besides: str) -> int:
        """Return the number of resources in the live stacks of a tree, except one stack."""

    async def values_size(self, root_id: str, stack_id: str) -> tuple[int, int]:
        """Return the size in bytes of a stack's resource values, and of the rest of its tree."""

    async def snapshots(self, stack_id: str) -> Sequence[Snapshot]:
        """Return the snapshots of a stack, oldest first."""

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """Return one snapshot."""

    async def snapshot_parts(
        self, snapshot_id: str, below: Sequence[str] = ()
    ) -> Sequence[SnapshotPart]:
        """Return the parts of a snapshot, ordered by path."""

    # The database as a whole

    async def open_operations(self) -> Mapping[str, tuple[int, float]]:
        """Return the number of open operations and the time of the oldest, by status."""

    async def database_size(self) -> int:
        """Return the bytes of the database."""
