"""Drives a resource type as the engine does: calls it again after each Wait, stores its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keystoneauth1.exceptions.connection import ConnectFailure

from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Call,
    Done,
    Failed,
    Outcome,
    ResourceType,
    StackFacts,
    Update,
    Wait,
)
from stoker.schema.values import check_properties

STACK = StackFacts("11111111-1111-1111-1111-111111111111", "web", "project")
TOKEN = "abcdefgh2345"


@dataclass
class Row:
    """The state that the engine stores of a resource."""

    type: ResourceType
    cloud: Any
    given: Mapping[str, Any]
    name: str = "thing"
    token: str = TOKEN
    metadata: Mapping[str, Any] = field(default_factory=dict)
    physical_id: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    signalling: Any = None
    waits: list[Wait] = field(default_factory=list)
    clock: Callable[[], float] = lambda: 100.0

    def call(self, action: str, progress: Mapping[str, Any] | None = None) -> Call:
        return Call(
            stack=STACK,
            name=self.name,
            resource_id="22222222-2222-2222-2222-222222222222",
            token=self.token,
            physical_name=f"web-{self.name}-{self.token}",
            properties=checked(self.type, self.given),
            started_at=self.clock(),
            now=self.clock(),
            action=action,
            metadata=self.metadata,
            physical_id=self.physical_id,
            progress=progress or {},
            data=self.data,
            cloud=self.cloud,
            signalling=self.signalling,
        )

    def run(self, action: str, limit: int = 30, **changes: Any) -> Outcome:
        """The final outcome of an action; for UPDATE pass ``update``."""
        method = getattr(self.type, action.lower())
        progress: Mapping[str, Any] = {}
        for _ in range(limit):
            try:
                outcome: Outcome = method(replace(self.call(action, progress), **changes))
            except ConnectFailure:
                self.physical_id = self.type.find(self.call(action, progress))
                continue
            self.note(outcome)
            if not isinstance(outcome, Wait):
                return outcome
            self.waits.append(outcome)
            progress = progress if outcome.progress is None else outcome.progress
        raise AssertionError(f"{action} still waits: {outcome}")

    def note(self, outcome: Outcome) -> None:
        if outcome.physical_id is not None:
            self.physical_id = outcome.physical_id
        if outcome.data is not None:
            self.data = outcome.data
        if isinstance(outcome, Done | Wait) and outcome.attributes is not None:
            self.attributes.update(outcome.attributes)

    def create(self) -> Row:
        outcome = self.run("CREATE")
        assert isinstance(outcome, Done), outcome
        return self

    def update(self, **given: Any) -> Outcome:
        before = checked(self.type, self.given)
        self.given = given
        after = checked(self.type, given)
        changed = frozenset(name for name in after if after[name] != before[name])
        return self.run("UPDATE", update=Update(before, changed))

    def delete(self) -> Outcome:
        return self.run("DELETE")

    def read(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.type.read(self.call("READ"))
        return found


def checked(kind: ResourceType, given: Mapping[str, Any]) -> Mapping[str, Any]:
    result = check_properties(given, kind.properties)
    assert not result.errors, result.errors
    return result.values


def failure(outcome: Outcome) -> str:
    assert isinstance(outcome, Failed), outcome
    return outcome.reason
