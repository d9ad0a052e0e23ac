"""Snapshots of stacks, as they are recorded: one row for each, and one for each resource in it.

What a snapshot holds of a resource is recorded before anything is asked of a cloud, with the name
by which that is found again. So whatever becomes of an operation, or of a resource, somebody knows
what there is to delete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import field

from stoker.engine.model.records import PublicRecord, Record, Status


class Snapshot(PublicRecord, frozen=True):
    """A snapshot of a stack and of those nested in it.

    One in progress whose operation has ended has failed with it: see
    :mod:`stoker.engine.service.snapshots`.
    """

    id: str
    stack_id: str
    created_at: float
    input_id: str
    """What the stack was to be; kept as long as the snapshot."""
    operation_id: str
    """The operation that takes it."""
    name: str | None = None
    status: Status = Status.IN_PROGRESS
    reason: str | None = None
    stack_state: Mapping[str, Any] = field(default_factory=dict)
    """Action, status and tags of the stack when the snapshot was asked for."""


class SnapshotPart(Record, frozen=True):
    """What a snapshot holds of one resource."""

    id: str
    snapshot_id: str
    path: tuple[str, ...]
    """Names of resources, from the stack that was snapshotted down to this one."""
    object_name: str
    """Of what the type makes: unique, so that a lost call's is found again."""
    row_id: str
    type_name: str
    implementation: str
    physical_id: str | None = None
    nested_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    """The row's data, with what the type says of its snapshot; kept encrypted."""
    asked: bool = False
    """The type has been called for it, and nobody knows what has come of that."""
    complete: bool = False
    unreadable: tuple[str, ...] = ()
    """Fields that are stored and cannot be read; they are empty here. Read only."""


class SnapshotReads(Protocol):
    """The store's snapshots."""

    async def snapshots(self, stack_id: str) -> Sequence[Snapshot]:
        """The snapshots of a stack, oldest first."""

    async def snapshot(self, snapshot_id: str) -> Snapshot | None:
        """One snapshot."""

    async def snapshot_parts(self, snapshot_id: str) -> Sequence[SnapshotPart]:
        """What a snapshot holds of each resource, in the order of their paths."""
