"""What happens in the cloud, as events that alarms listen to.

An object that appears, changes or goes is an event: ``compute.instance.create.end``. Its traits are
the fields of the object that are texts and numbers.
"""

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from localcloud.alarming.conditions import COMPARE, Finding
from localcloud.alarming.evaluation import Watch
from localcloud.alarming.state import ALARM, State
from localcloud.store import Document

_KINDS = {
    "compute.server": ("compute.instance", "instance_id"),
    "block_storage.volume": ("volume", "volume_id"),
    "image.image": ("image", "resource_id"),
    "network.network": ("network", "network_id"),
    "network.subnet": ("subnet", "subnet_id"),
    "network.port": ("port", "port_id"),
    "network.router": ("router", "router_id"),
    "network.floatingip": ("floatingip", "floatingip_id"),
    "load_balancer.loadbalancer": ("octavia.loadbalancer", "loadbalancer_id"),
}
"""By the collection: how events are called, and the trait with the object's id."""
_POWER = {"active": "compute.instance.power_on.end", "stopped": "compute.instance.power_off.end"}


@dataclass(frozen=True)
class Event:
    """Something that has happened."""

    type: str
    project_id: str
    traits: Mapping[str, Any]


class Events:
    """Tells alarms on events what happens. It begins with the first of them."""

    def __init__(self, state: State, watch: Watch) -> None:
        self._state = state
        self._watch = watch
        self._listens = False

    def begin(self) -> None:
        """Listen from now on."""
        if not self._listens:
            self._listens = True
            for kind, (name, id_trait) in _KINDS.items():
                collection = self._state.cloud.store.collection(kind)
                collection.watch(partial(self._changed, name, id_trait))

    def _changed(
        self, name: str, id_trait: str, before: Document | None, after: Document | None
    ) -> None:
        document = after or before
        if document is None or not any(self._state.alarms.find(type="event")):
            return
        project = document.get("project_id") or document.get("owner")
        if project is None:
            return
        traits = {k: v for k, v in document.items() if isinstance(v, str | int | float | bool)}
        if "vm_state" in document:
            traits["state"] = document["vm_state"]
        traits |= {id_trait: document["id"], "project_id": project, "tenant_id": project}
        for kind in _names(name, before, after):
            self.happened(Event(kind, project, traits))

    def happened(self, event: Event) -> None:
        """Ring the alarms of the project that an event is meant for."""
        for alarm in list(self._state.alarms.find(type="event", project_id=event.project_id)):
            rule = alarm["rule"]
            if not alarm["enabled"] or not fnmatch.fnmatchcase(event.type, rule["event_type"]):
                continue
            if all(_fits(each, event) for each in rule["query"]):
                self._watch.settle(alarm, _finding(event, rule["query"]))


def _names(name: str, before: Document | None, after: Document | None) -> list[str]:
    if before is None:
        return [f"{name}.create.start" if "vm_state" in (after or {}) else f"{name}.create.end"]
    if after is None:
        return [f"{name}.delete.end"]
    found = [f"{name}.update"]
    was, now = before.get("vm_state"), after.get("vm_state")
    if was != now and was == "building":
        found.append(f"{name}.create.{'end' if now == 'active' else 'error'}")
    elif was != now and now in _POWER:
        found.append(_POWER[now])
    return found


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
    told = {
        "message_id": str(uuid4()),
        "event_type": event.type,
        "traits": [[name, 1, value] for name, value in event.traits.items()],
    }
    reason = f"Event {told['message_id']} of type {event.type} hits the query {query}."
    return Finding(ALARM, None, reason, {"type": "event", "event": told})
