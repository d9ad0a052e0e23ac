"""Alarms on events of the cloud."""

import fnmatch
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from localcloud.alarming.conditions import COMPARE, Finding
from localcloud.alarming.jobs import Watch
from localcloud.alarming.model.state import ALARM, State
from localcloud.core.events import Event, Events
from localcloud.core.store import Document


class AlarmEvents:
    """Passes the cloud's events to alarms. It listens from the first event alarm on."""

    def __init__(self, state: State, watch: Watch) -> None:
        self._state = state
        self._watch = watch
        self._listens = False

    def begin(self) -> None:
        """Listen from now on."""
        if not self._listens:
            self._listens = True
            self._state.cloud.one(Events).listen(self.happened)

    def happened(self, event: Event) -> None:
        """Ring the alarms of the project that an event is meant for."""
        for alarm in list(self._state.alarms.find(type="event", project_id=event.project_id)):
            rule = alarm["rule"]
            if not alarm["enabled"] or not fnmatch.fnmatchcase(event.type, rule["event_type"]):
                continue
            if all(_fits(each, event) for each in rule["query"]):
                self._watch.settle(alarm, _finding(event, rule["query"]))


def _fits(condition: Document, event: Event) -> bool:
    name = condition["field"].removeprefix("traits.")
    found = event.type if name == "event_type" else event.traits.get(name)
    if found is None:
        return False
    try:
        read = _READ[condition["type"]]
        return COMPARE[condition["op"]](read(found), read(condition["value"]))
    except (TypeError, ValueError):
        return False


def _boolean(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "yes")


_READ: Mapping[str, Callable[[Any], Any]] = {
    "integer": int, "float": float, "boolean": _boolean, "string": str, "datetime": str, "": str,
}  # fmt: skip


def _finding(event: Event, query: list[Document]) -> Finding:
    event_data = {
        "message_id": str(uuid4()),
        "event_type": event.type,
        "traits": [[name, 1, value] for name, value in event.traits.items()],
    }
    reason = f"Event {event_data['message_id']} of type {event.type} hits the query {query}."
    return Finding(ALARM, None, reason, {"type": "event", "event": event_data})
