"""Change sets, protections of stacks, and detections of drift.

A change set is a stored request with its plan, to be executed later: a saved plan with a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import field

from stoker.engine.model.records import PublicRecord
from stoker.engine.model.stack_records.exports import Export as Export


class ChangeSet(PublicRecord, frozen=True):
    """A change set of a stack. Only its operation is added later, when it is executed."""

    id: str
    stack_id: str
    name: str
    created_at: float
    description: str = ""
    makes: bool = False  # it creates its stack, which has only change sets so far
    fault: str = ""  # the reason why it cannot be executed
    fingerprint: str = ""
    operation_id: str | None = None  # the operation that executes it
    client_token: str | None = None  # of the request that created it
    client_digest: str | None = None  # of the content of that request
    # Fields of a StackRequest; stored encrypted.
    request: Mapping[str, Any] = field(default_factory=dict)
    # Its plan, for display; stored encrypted.
    shown: Mapping[str, Any] = field(default_factory=dict)


class ChangeSetExecution(PublicRecord, frozen=True):
    """The start of a change set.

    The other change sets of its stack that were not started are dropped, because their plans no
    longer hold.
    """

    change_set_id: str
    operation_id: str


class ChangeSetReads(Protocol):
    """Reads of change sets."""

    async def summaries(self, stack_id: str) -> Sequence[ChangeSet]:
        """Return the change sets of a stack, oldest first, without request and plan."""

    async def named(self, stack_id: str, name: str) -> ChangeSet | None:
        """Return the change set of a stack with this name or id."""


class Protection(PublicRecord, frozen=True):
    """The protection of one stack.

    It is not part of the stack's row, which only the stack's engine writes: users set it during
    operations.
    """

    stack_id: str
    keeps: bool = False  # deletes of the stack are rejected
    # Stack policy for updates; empty for none.
    policy: Mapping[str, Any] = field(default_factory=dict)


class ProtectionReads(Protocol):
    """Reads of protections."""

    async def protection(self, stack_id: str) -> Protection:
        """Return the protection of a stack; an empty one if nothing was set."""


class Detection(PublicRecord, frozen=True):
    """A comparison with the live objects of a stack, and its result."""

    id: str
    stack_id: str
    started_at: float
    ended_at: float | None = None  # none while it runs
    fault: str = ""  # the reason of its failure
    found: Mapping[str, Any] = field(default_factory=dict)  # drift by resource; stored encrypted


class DetectionReads(Protocol):
    """Reads of detections."""

    async def detection(self, detection_id: str) -> Detection | None:
        """Return one detection."""

    async def latest(self, stack_id: str) -> Detection | None:
        """Return the newest one of a stack that has ended with a result."""
