"""Turns: stacks are driven by any of many engines, for as long as there is something to do.

A turn ends when all that is left are pauses of some seconds; another one is due when the first of
them ends, or when something is told. Whatever a stack has to hear of waits for a turn of it from
the commit on that tells of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from stoker.engine.model.changes import Change, PublicChange, records_of
from stoker.engine.model.records import Operation, OperationStatus, Stack, Status, StoredSignal
from stoker.schema.software import Deployment, SoftwareConfig


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
        for operation in records_of(change, Operation)
        if operation.status is OperationStatus.WAITING
    }
    if is_for_driver(change):
        asked[change.stack_id] = None
    ended = tuple(
        (stack.parent_id, stack.id)
        for stack in records_of(change, Stack)
        if stack.parent_id is not None and stack.status is not Status.IN_PROGRESS
    )
    return TurnNotification(tuple(asked), ended)


_FOR_DRIVERS = (StoredSignal, Deployment, SoftwareConfig)


def is_for_driver(change: Change) -> bool:
    """Return whether a change has signals or software that the driver of its stack waits for."""
    if not isinstance(change, PublicChange) or not change.stack_id:
        return False
    return any(isinstance(record, _FOR_DRIVERS) for record in change.puts) or any(
        key.kind in _FOR_DRIVERS for key in change.drops
    )


class TurnQueue(Protocol):
    """Turns that are due. Methods raise :class:`stoker.engine.model.interfaces.StoreError`."""

    async def consume(self, stack_ids: Sequence[str]) -> Collection[str]:
        """Take away the turns of these stacks that are due, since what they are about is heard
        of without; returns the stacks that had one.
        """

    async def schedule(self, stack_id: str, at: float) -> None:
        """Have a turn of the stack at a time, unless one is due before."""
