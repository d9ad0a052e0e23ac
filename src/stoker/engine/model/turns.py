"""Turns: stacks are driven by any of many engines, for as long as there is something to do.

A turn ends when all that is left are pauses of some seconds; another one is due when the first of
them ends, or when something is told. Whatever a stack has to hear of waits for a turn of it from
the commit on that tells of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from stoker.engine.model.interfaces import Change, PublicChange
from stoker.engine.model.records import OperationStatus, Status
from stoker.schema.software import NO_SOFTWARE


class TurnNotification(Struct, frozen=True):
    """Whoever drives stacks has to hear of a change."""

    asked: tuple[str, ...]
    """Ids of stacks with a new operation or signal."""
    ended: tuple[tuple[str, str], ...]
    """Stacks that may wait for a nested one, which has come to an end: the ids of both."""


def news_of(change: Change) -> TurnNotification:
    """What a change tells those who drive stacks."""
    asked = {
        operation.stack_id: None
        for operation in change.operations
        if operation.status is OperationStatus.WAITING
    }
    told = isinstance(change, PublicChange) and (
        change.signals or change.software is not NO_SOFTWARE
    )
    if told and change.stack_id:
        asked[change.stack_id] = None
    ended = tuple(
        (stack.parent_id, stack.id)
        for stack in change.stacks
        if stack.parent_id is not None and stack.status is not Status.IN_PROGRESS
    )
    return TurnNotification(tuple(asked), ended)


class TurnQueue(Protocol):
    """Turns that are due. Methods raise :class:`stoker.engine.model.interfaces.StoreError`."""

    async def consume(self, stack_ids: Sequence[str]) -> Collection[str]:
        """Take away the turns of these stacks that are due, since what they are about is heard
        of without; returns the stacks that had one.
        """

    async def schedule(self, stack_id: str, at: float) -> None:
        """Have a turn of the stack at a time, unless one is due before."""
