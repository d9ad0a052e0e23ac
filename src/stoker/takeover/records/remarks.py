"""Remarks about stacks: facts that could not be carried over exactly."""

from __future__ import annotations

from msgspec import Struct


class Remark(Struct, frozen=True):
    """A remark about a stack or one of its resources."""

    stack_id: str
    text: str
    resource: str = ""
