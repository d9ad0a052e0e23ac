"""Changes of stacks that no engine drives."""

from __future__ import annotations

from stoker.engine.model.records import PublicRecord, Stack


class StackRevision(PublicRecord, frozen=True):
    """New columns of a stack that no engine drives.

    It raises the fencing token, so that no engine continues with rows in its memory. The change
    needs a guard: the stack has the fencing token of ``stack``, and no open operation.
    """

    stack: Stack
