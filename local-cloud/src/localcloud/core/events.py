"""Events of the cloud, for services that listen to them.

An object that is created, changed or deleted is an event, such as ``compute.instance.create.end``.
The traits of an event are the texts and numbers among the object's fields.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document

# By the collection: how events are called, and the trait with the object's id.
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
_POWER = {"active": "compute.instance.power_on.end", "stopped": "compute.instance.power_off.end"}


class Event(Struct, frozen=True):
    """Something that has happened."""

    type: str
    project_id: str
    traits: Mapping[str, Any]


class Events:
    """Passes events to listeners; the one instance is ``cloud.one(Events)``."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._listeners: list[Callable[[Event], None]] = []

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call the listener with each event from now on."""
        if not self._listeners:
            for kind, (name, id_trait) in _KINDS.items():
                collection = self._cloud.store.collection(kind)
                collection.watch(partial(self._changed, name, id_trait))
        self._listeners.append(listener)

    def _changed(
        self, name: str, id_trait: str, before: Document | None, after: Document | None
    ) -> None:
        document = after or before
        if document is None:
            return
        project = document.get("project_id") or document.get("owner")
        if project is None:
            return
        traits = {k: v for k, v in document.items() if isinstance(v, str | int | float | bool)}
        if "vm_state" in document:
            traits["state"] = document["vm_state"]
        traits |= {id_trait: document["id"], "project_id": project, "tenant_id": project}
        for kind in _names(name, before, after):
            for listener in self._listeners:
                listener(Event(kind, project, traits))


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
