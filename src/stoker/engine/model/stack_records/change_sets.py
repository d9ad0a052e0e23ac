"""Change sets, protections of stacks, and detections of drift.

A change set is a stored request with its plan, to be executed later: a saved plan with a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


class Protection(PublicRecord, frozen=True):
    """The protection of one stack.

    It is not part of the stack's row, which only the stack's engine writes: users set it during
    operations.
    """

    stack_id: str
    keeps: bool = False  # deletes of the stack are rejected
    # Stack policy for updates; empty for none.
    policy: Mapping[str, Any] = field(default_factory=dict)


class Detection(PublicRecord, frozen=True):
    """A comparison with the live objects of a stack, and its result."""

    id: str
    stack_id: str
    started_at: float
    ended_at: float | None = None  # none while it runs
    fault: str = ""  # the reason of its failure
    found: Mapping[str, Any] = field(default_factory=dict)  # drift by resource; stored encrypted
