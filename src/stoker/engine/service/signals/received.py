"""A signal of a client, with the resource that it is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports, PublicChange
from stoker.engine.model.records import Event, Resource
from stoker.schema.resource_type import ResourceType


class ReceivedSignal(Struct, frozen=True):
    """A signal whose sender and size are checked."""

    stack_rows: StackRows
    row: Resource
    details: Mapping[str, Any]
    size: int  # bytes of the details as JSON

    @property
    def ports(self) -> Ports:
        """The ports of the engine."""
        return self.stack_rows.ports

    @property
    def type(self) -> ResourceType | None:
        """The type of the resource; None if no plugin has it."""
        return self.stack_rows.type_of(self.row)

    async def record_event(self, event: Event) -> None:
        """Record an event of a signal that has no other effect."""
        store, stack_id = self.ports.store, self.row.stack_id
        await store.commit(PublicChange(stack_id, puts=(event,)))
        # A client may send such signals again and again. Nothing else bounds their events.
        await store.tidy(stack_id, self.stack_rows.events_to_keep)
