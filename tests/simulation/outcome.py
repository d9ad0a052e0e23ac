"""What a scenario has led to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from stoker.engine.model.records import Event, Operation, Resource, Stack, Status
from stoker.engine.model.watches import Watch
from tests.simulation.album import Picture
from tests.simulation.cloud import Cloud
from tests.simulation.scenario import Scenario


@dataclass
class Outcome:
    """What is left when everything has come to rest."""

    scenario: Scenario
    stack: Stack | None
    rows: list[Resource]
    events: list[Event]
    operations: list[Operation]
    cloud: Cloud
    stack_id: str | None = None
    images: dict[str, str] = field(default_factory=dict)
    """What snapshots hold: the resource of each image, by its token."""
    inner: dict[str, tuple[str, list[Resource]]] = field(default_factory=dict)
    """Status and rows of nested stacks, by the name of the resource."""
    pictures: list[Picture] = field(default_factory=list)
    """One for each status that the stack has had."""
    torn: list[str] = field(default_factory=list)
    """What a transaction has written by halves."""
    acknowledged: list[str] = field(default_factory=list)
    """Signals that were answered: the row of each."""
    tries: list[int] = field(default_factory=list)
    """Signals that were sent, again after no answer: the number of each."""
    sent_to: Counter[str] = field(default_factory=Counter)
    """Signals to the scaling policy and the restarter, by name."""
    answered_by: Counter[str] = field(default_factory=Counter)
    """Those of them that were answered."""
    watches: list[Watch] = field(default_factory=list)
    """The alarms that there are."""
    accepted: list[float] = field(default_factory=list)
    """When each request was answered."""
    asleep: list[str] = field(default_factory=list)
    """Operations that were open while nobody did anything."""
    wanted: dict[str, Any] = field(default_factory=dict)
    """The resources of the template that the stack is to have."""
    applied: list[tuple[str, str, str]] = field(default_factory=list)
    """What the agent on the server has applied: resource, action and value."""
    deployed: int = 0
    """Deployments that are on record."""
    unheard: list[str] = field(default_factory=list)
    """What is wrong with the notifications that were sent."""
    signals: list[Any] = field(default_factory=list)
    """Signals in the store."""
    exports: dict[str, Any] = field(default_factory=dict)
    """What the stack exports at the end, by name."""
    executed: list[str | None] = field(default_factory=list)
    """The operation that carried out the change set, if there is one."""
    readings: list[tuple[int, int]] = field(default_factory=list)
    """What a reader saw: number of events, number of ended operations."""
    back_to: dict[str, Any] | None = None
    """The template that a rollback goes back to, as the engine says."""
    turns: int = 0
    writes: int = 0
    reads: int = 0
    calls: int = 0
    cuts: int = 0
    """Requests that were under way when an engine died."""
    failed_writes: int = 0

    @property
    def everything(self) -> list[Resource]:
        """The rows of all stacks."""
        return [*self.rows, *(row for _, rows in self.inner.values() for row in rows)]

    @property
    def told(self) -> list[Event]:
        """The events that tell how operations have ended."""
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
