"""Event triggers: executions that start on events of the cloud."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from localcloud.core.events import Event, Events
from localcloud.web.http import ApiError
from localcloud.workflow.engine.execution_starter import ExecutionStarter
from localcloud.workflow.model.state import State

_LOG = logging.getLogger(__name__)
# The exchange of the message bus for the first word of an event's type.
_EXCHANGES = {
    "compute": "nova",
    "volume": "cinder",
    "image": "glance",
    "network": "neutron",
    "subnet": "neutron",
    "port": "neutron",
    "router": "neutron",
    "floatingip": "neutron",
    "octavia": "octavia",
}
TOPICS = ("notifications", "versioned_notifications")


class EventTriggers:
    """Starts the executions of event triggers. Listens only once there is a trigger."""

    def __init__(self, state: State, starts: ExecutionStarter) -> None:
        self._state = state
        self._starts = starts
        self._listens = False

    def begin(self) -> None:
        """Listen if there are triggers."""
        if len(self._state.event_triggers) and not self._listens:
            self._listens = True
            self._state.cloud.one(Events).listen(self._happened)

    def _happened(self, event: Event) -> None:
        for trigger in list(self._state.event_triggers.find(project_id=event.project_id)):
            exchange = _EXCHANGES.get(event.type.partition(".")[0])
            if trigger["event"] != event.type or trigger["exchange"] != exchange:
                continue
            description = {
                "message": f"Workflow execution created by event trigger '{trigger['id']}'.",
                "triggered_by": {
                    "type": "event_trigger", "id": trigger["id"], "name": trigger["name"]
                },
            }  # fmt: skip
            try:
                self._starts.triggered(
                    trigger, json.dumps(description), {"event_params": self._parameters(event)}
                )
            except ApiError as error:
                _LOG.warning(
                    "event trigger %s started no execution: %s", trigger["name"], error.message
                )

    def _parameters(self, event: Event) -> Mapping[str, Any]:
        return {
            "event_type": event.type,
            "timestamp": self._state.now(),
            "resource_id": event.traits.get("id"),
            **event.traits,
        }
