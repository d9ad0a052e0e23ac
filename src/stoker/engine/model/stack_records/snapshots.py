"""Snapshots of stacks as records: one for each snapshot, and one for each resource in it.

The part for a resource is recorded before the first call to a cloud, with the unique name of the
image or backup. So an object of a lost call is found and deleted, regardless of the end of the
operation or the resource. Tested by tests/operations/test_snapshots.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from stoker.engine.model.records import PublicRecord, Record, Status


class Snapshot(PublicRecord, frozen=True):
    """A snapshot of a stack and of those nested in it.

    If its operation has ended and it is still in progress, it has failed; nothing is written for
    that. See :mod:`stoker.engine.service.snapshots`.
    """

    id: str
    stack_id: str
    created_at: float
    input_id: str  # kept as long as the snapshot
    operation_id: str  # the operation that takes it
    name: str | None = None
    status: Status = Status.IN_PROGRESS
    reason: str | None = None
    # Action, status and tags of the stack at the request.
    stack_state: Mapping[str, Any] = field(default_factory=dict)


class SnapshotPart(Record, frozen=True):
    """The part of a snapshot for one resource."""

    id: str
    snapshot_id: str
    path: tuple[str, ...]  # names of resources, from the snapshotted stack down
    object_name: str  # unique, so that the object of a lost call is found
    row_id: str
    type_name: str
    implementation: str
    physical_id: str | None = None
    nested_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    # Of the row and of its snapshot; stored encrypted.
    data: Mapping[str, Any] = field(default_factory=dict)
    asked: bool = False  # the type was called, and the outcome is unknown
    complete: bool = False
    unreadable: tuple[str, ...] = ()  # names of fields that cannot be decrypted; empty here
