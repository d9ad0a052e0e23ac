"""Attaches and detaches ports of servers.

Nova attaches synchronously, but detaches in the background. Until Neutron shows the port without a
device, it can be neither deleted nor attached to another server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.clouds.faults import CloudError, is_conflict, is_not_found
from stoker.clouds.objects.collection import Object, send
from stoker.clouds.objects.collections import PORTS, SERVERS
from stoker.kernel.errors import RequestError
from stoker.resources.nova.server.ports import UNBOUND
from stoker.schema.resource_type import Call

# Port -> time of the detach request; None if Nova could not accept the request yet.
SendTimes = Mapping[str, float | None]

_LONGEST = 300.0


def ports_of(call: Call) -> list[Object]:
    """Return the ports that are attached to the server."""
    return PORTS.select(call.cloud, device_id=call.physical_id)


def detach(call: Call, ports: Iterable[str], sent_at: SendTimes) -> dict[str, float | None]:
    """Detach ports; return those that are still attached. Each is requested once.

    Raise :class:`stoker.kernel.errors.RequestError` for a port that stays attached for 300 seconds.
    """
    left: dict[str, float | None] = {}
    for port_id in ports:
        port = PORTS.find(call.cloud, port_id)
        if port is None or port.get("device_id") != call.physical_id:
            continue
        since = sent_at.get(port_id)
        if since is None:
            left[port_id] = call.now if _is_asked(call, port_id) else None
        elif call.now - since > _LONGEST:
            raise RequestError(
                f"the compute service was asked to detach port {port_id} from server"
                f" {call.physical_id}, but the port is still there after {_LONGEST:.0f} seconds"
            )
        else:
            left[port_id] = since
    return left


def _is_asked(call: Call, port_id: str) -> bool:
    """Request a detach. Return False while the server is busy with another task."""
    path = SERVERS.at(call.object_id, f"/os-interface/{port_id}")
    try:
        send(call.cloud.service("compute"), "DELETE", path)
    except CloudError as fault:
        if is_not_found(fault):
            # Nova does not know the interface (any more), but the port still names the server.
            unbind(call, port_id)
        elif is_conflict(fault) and "task_state" in fault.message:
            return False
        else:
            raise
    return True


def unbind(call: Call, port_id: str) -> None:
    """Clear the device of a port whose server is deleted or cannot detach it."""
    PORTS.update(call.cloud, port_id, UNBOUND)


def attach(call: Call, port_id: str | None, tag: str | None = None) -> None:
    """Attach a port to the server. Without a port, Nova chooses a network."""
    attachment: dict[str, Any] = {"port_id": port_id} if port_id else {}
    if tag:
        attachment["tag"] = tag
    send(
        call.cloud.service("compute"),
        "POST",
        SERVERS.at(call.object_id, "/os-interface"),
        json={"interfaceAttachment": attachment},
        microversion="2.49" if tag else None,
    )


def tags_of(call: Call) -> dict[str, str]:
    """Return the tags of the server's interfaces, by port."""
    path = SERVERS.at(call.object_id, "/os-interface")
    answer = send(call.cloud.service("compute"), "GET", path, microversion="2.70")
    listed = answer.get("interfaceAttachments", [])
    return {str(item["port_id"]): str(item["tag"]) for item in listed if item.get("tag")}
