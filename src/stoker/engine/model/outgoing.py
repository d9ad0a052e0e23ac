"""Outgoing messages of commits: notifications for the message bus, and events for queues.

Messages are rows of the transaction that they report. They are sent afterwards, in order within a
lane, at least once. A consumer recognizes a repeated message by its id, which is that of its event.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from stoker.engine.model.records import Action, Channel, Event, Message, Stack, Status
from stoker.kernel.clock import isoformat

STACK_TYPE = "OS::Heat::Stack"  # the resource type in events of a stack itself
DEFAULT_TTL = 3600  # seconds for which a queue keeps an event


class Sink(Struct, frozen=True):
    """A destination of a stack's events, from its environment."""

    channel: Channel
    target: str
    ttl: int = DEFAULT_TTL  # seconds


class Outbox(Protocol):
    """The messages that were not sent yet."""

    def listen(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` on the event loop whenever a commit has added messages."""

    async def waiting(
        self, channel: Channel, most: int, resting: Collection[str] = ()
    ) -> Sequence[Message]:
        """Return the oldest messages of a channel, except those of ``resting`` lanes."""

    async def delivered(self, messages: Sequence[Message]) -> None:
        """Delete messages that were sent."""

    async def trim(self, channel: Channel, most: int) -> int:
        """Delete all but the newest messages of a channel. Return the number of deleted ones."""


def sinks_of(environment: Mapping[str, Any]) -> list[Sink]:
    """Return the sinks of an environment in its stored form."""
    return [
        Sink(Channel(sink["type"]), sink["target"], sink.get("ttl", DEFAULT_TTL))
        for sink in environment.get("event_sinks") or ()
    ]


_PHASES = {Status.IN_PROGRESS: "start", Status.COMPLETE: "end", Status.FAILED: "error"}


def is_of_stack(event: Event) -> bool:
    """Return whether an event is about a stack, and not about one of its resources."""
    return event.resource_id is None and event.resource_type == STACK_TYPE


def stack_notification(stack: Stack, event: Event) -> Message:
    """Return the notification of a stack's event, as ``orchestration.stack.create.end``."""
    phase = _PHASES[event.status]
    kind = f"stack.{event.action.lower()}.{phase}"
    payload = _payload(stack, event.action, event.status, event.reason)
    return _notification(stack, event.id, event.time, kind, payload)


class Resizing(Struct, frozen=True):
    """The effect of a signal to a scaling policy on a group."""

    phase: str  # `start`, `end`, `error` or `suppressed`
    group: str
    adjustment: float
    adjustment_type: str
    capacity: int  # present size of the group
    message: str


def resizing_notification(stack: Stack, resizing: Resizing, id_: str, now: float) -> Message:
    """Return the notification of a resized group, as ``orchestration.autoscaling.start``."""
    payload = _payload(stack, stack.action, stack.status, stack.reason) | {
        "groupname": resizing.group,
        "adjustment": resizing.adjustment,
        "adjustment_type": resizing.adjustment_type,
        "capacity": resizing.capacity,
        "message": resizing.message,
    }
    return _notification(stack, id_, now, f"autoscaling.{resizing.phase}", payload)


def _notification(
    stack: Stack, id_: str, now: float, kind: str, payload: Mapping[str, Any]
) -> Message:
    user = {"user_id": stack.user_id, "username": stack.user_name}
    project = {"tenant_id": stack.project_id, "project_id": stack.project_id}
    body = {
        "event_type": f"orchestration.{kind}",
        "priority": "ERROR" if kind.endswith(".error") else None,
        "context": {**user, **project},
        "payload": payload,
    }
    return Message(id_, Channel.BUS, "", stack.id, now, body)


def _payload(stack: Stack, action: Action, status: Status, reason: str) -> dict[str, Any]:
    return {
        "tenant_id": stack.project_id,
        # Heat puts the name here, and consumers rely on it. The id has a key of its own.
        "user_id": stack.user_name,
        "username": stack.user_name,
        "user_identity": stack.user_id,
        "stack_identity": stack.id,
        "stack_name": stack.name,
        "state": f"{action}_{status}",
        "state_reason": reason,
        "create_at": isoformat(stack.created_at),
        "updated_at": _time(stack.updated_at),
        "deleted_at": _time(stack.deleted_at),
        "description": stack.description,
        "tags": list(stack.tags),
    }


def _time(moment: float | None) -> str | None:
    return None if moment is None else isoformat(moment)


def sink_message(project_id: str, event: Event, sink: Sink) -> Message:
    """Return the message with an event for a sink, in Heat's format."""
    content = {
        "timestamp": isoformat(event.time),
        "version": "0.1",
        "type": "os.heat.event",
        "id": event.id,
        "payload": {
            "version": "0.1",
            "stack_id": event.stack_id,
            "resource_name": event.resource_name,
            "physical_resource_id": event.physical_id,
            "resource_type": event.resource_type,
            "resource_action": event.action.value,
            "resource_status": event.status.value,
            "resource_status_reason": event.reason,
            "resource_properties": dict(event.properties or {}),
        },
    }
    body = {"target": sink.target, "ttl": sink.ttl, "event": content}
    lane = f"{project_id}/{sink.target}"
    return Message(event.id, sink.channel, lane, event.stack_id, event.time, body)
