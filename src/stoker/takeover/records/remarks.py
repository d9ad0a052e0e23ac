"""Remarks about stacks: facts that could not be carried over exactly."""

from __future__ import annotations

from msgspec import Struct

# Of a resource in a stack whose last operation failed: an update there does what is left.
NOT_REACHED = "the last operation in Heat ended before it"
IN_PROGRESS = (
    "an operation is in progress in Heat; repeat the pass when it has ended, or with --wait"
)


class Remark(Struct, frozen=True):
    """A remark about a stack or one of its resources."""

    stack_id: str
    text: str
    resource: str = ""
