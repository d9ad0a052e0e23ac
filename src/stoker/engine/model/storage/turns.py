"""Turns: any of many engines drives a stack, for as long as it has something to do.

A turn ends when only pauses of some seconds are left. The next one is due when the first of them
ends, or when a commit concerns the stack: the turn is queued in the transaction of that commit, so
that no operation, signal or end of a nested stack is missed.
See docs/develop/decisions/0022-several-engines.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from stoker.engine.model.records import (
    Event,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
    StoredSignal,
)
from stoker.engine.model.storage.changes import Change, PublicChange, records_of
from stoker.schema.software import Deployment, SoftwareConfig


class TurnNotification(Struct, frozen=True):
    """The stacks that a change concerns, for drivers."""

    due: tuple[str, ...]  # stack ids with a new operation or signal
    ended: tuple[tuple[str, str], ...]  # ids of a parent and of its nested stack that has ended


_NOTHING = TurnNotification((), ())
_FOR_DRIVERS = (StoredSignal, Deployment, SoftwareConfig)


def notification_of(change: Change) -> TurnNotification:
    """Return the stacks that a change concerns."""
    due: dict[str, None] = {}
    ended = []
    concerns_driver = False
    for record in change.puts:
        match record:
            case Resource() | Event():  # most records
                pass
            case Operation():
                if record.status is OperationStatus.WAITING:
                    due[record.stack_id] = None
            case Stack():
                if record.parent_id is not None and record.status is not Status.IN_PROGRESS:
                    ended.append((record.parent_id, record.id))
            case StoredSignal() | Deployment() | SoftwareConfig():
                concerns_driver = True
    for key in change.drops:
        concerns_driver = concerns_driver or key.kind in _FOR_DRIVERS
    # The driver itself knows its own changes.
    if concerns_driver and isinstance(change, PublicChange) and change.stack_id:
        due[change.stack_id] = None
    return TurnNotification(tuple(due), tuple(ended)) if due or ended else _NOTHING


def ends_of(change: Change) -> dict[str, tuple[OperationStatus, str]]:
    """Return the final status and the reason of each operation that a change ends, by id."""
    return {
        operation.id: (operation.status, operation.reason)
        for operation in records_of(change, Operation)
        if operation.status.final
    }


class TurnQueue(Protocol):
    """Turns that are due. Methods raise :class:`stoker.engine.model.interfaces.StoreError`."""

    async def consume(self, stack_ids: Sequence[str]) -> Collection[str]:
        """Remove the due turns of these stacks, and return the stacks that had one.

        Their drivers were notified in another way.
        """

    async def schedule(self, stack_id: str, at: float) -> None:
        """Schedule a turn of the stack at a time, unless one is due earlier."""

    async def schedule_all(self, stack_ids: Sequence[str], at: float = 0.0) -> None:
        """Schedule turns of stacks at a time; 0 is now."""

    async def not_driven(self) -> Iterable[str]:
        """Return the stacks with an open operation and without a turn by its deadline."""

    async def is_driven_by_one(self) -> bool:
        """Return whether an engine is there that knows no turns."""
