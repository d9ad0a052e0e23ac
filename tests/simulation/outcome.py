"""The outcome of a scenario."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from stoker.engine.model.records import Event, Operation, Resource, Stack, Status
from stoker.engine.model.stack_records.watches import Watch
from tests.simulation.album import Picture
from tests.simulation.cloud import Cloud
from tests.simulation.scenario import Scenario


@dataclass
class Outcome:
    """The final state, when all activity has ended."""

    scenario: Scenario
    stack: Stack | None
    rows: list[Resource]
    events: list[Event]
    operations: list[Operation]
    cloud: Cloud
    stack_id: str | None = None
    # Contents of snapshots: the resource of each image, by its token.
    images: dict[str, str] = field(default_factory=dict)
    # Status and rows of nested stacks, by the name of the resource.
    inner: dict[str, tuple[str, list[Resource]]] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)  # one for each status of the stack
    torn: list[str] = field(default_factory=list)  # writes that are half of a transaction
    acknowledged: list[str] = field(default_factory=list)  # acknowledged signals: the row of each
    # Sent signals, repeated when unanswered: the number of each.
    tries: list[int] = field(default_factory=list)
    # Signals to the scaling policy and the restarter, by name.
    sent_to: Counter[str] = field(default_factory=Counter)
    # Those of them that were acknowledged.
    answered_by: Counter[str] = field(default_factory=Counter)
    watches: list[Watch] = field(default_factory=list)
    accepted: list[float] = field(default_factory=list)  # when each request was answered
    # Operations that were open while no engine was active.
    asleep: list[str] = field(default_factory=list)
    wanted: dict[str, Any] = field(default_factory=dict)  # resources of the desired template
    # Configs that the agent on the server applied: resource, action and value.
    applied: list[tuple[str, str, str]] = field(default_factory=list)
    deployed: int = 0
    unheard: list[str] = field(default_factory=list)  # faults in the notifications that were sent
    signals: list[Any] = field(default_factory=list)  # signals in the store
    # Exports of the stack at the end, by name.
    exports: dict[str, Any] = field(default_factory=dict)
    # Operation that carried out the change set, if there is one.
    executed: list[str | None] = field(default_factory=list)
    # Views of a reader: number of events, number of ended operations.
    readings: list[tuple[int, int]] = field(default_factory=list)
    # The template that a rollback restores, as the engine says.
    back_to: dict[str, Any] | None = None
    turns: int = 0
    writes: int = 0
    reads: int = 0
    calls: int = 0
    cuts: int = 0  # requests in flight when an engine died
    failed_writes: int = 0

    @property
    def everything(self) -> list[Resource]:
        """The rows of all stacks."""
        return [*self.rows, *(row for _, rows in self.inner.values() for row in rows)]

    @property
    def told(self) -> list[Event]:
        """Return the events that report ends of operations."""
        return [
            event
            for event in self.events
            if event.resource_id is None and event.status is not Status.IN_PROGRESS
        ]

    @property
    def history(self) -> str:
        """All that has happened, when, and in which order."""
        events = [
            f"{event.time:.4f} {event.resource_name} {event.action}_{event.status}"
            f" {event.physical_id} {event.reason}"
            for event in self.events
        ]
        return "\n".join([*events, *self.cloud.journal, *self.cloud.made, f"{self.turns} turns"])
