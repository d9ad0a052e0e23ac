"""Ports on their way to and from a server.

The compute service attaches while the caller waits, but detaches in the background: until the
network service says that a port is nobody's, it can be neither deleted nor given to another server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.clouds.collection import Object, send
from stoker.clouds.collections import PORTS, SERVERS
from stoker.clouds.faults import CloudError, is_conflict, is_not_found
from stoker.kernel.errors import RequestError
from stoker.resources.nova.server.ports import UNBOUND
from stoker.schema.resource_type import Call

Asked = Mapping[str, float | None]
"""Port -> when the compute service was asked to detach it; None if it could not be asked yet."""

_LONGEST = 300.0


def ports_of(call: Call) -> list[Object]:
    """The ports that the server has."""
    return PORTS.select(call.cloud, device_id=call.physical_id)


def detach(call: Call, ports: Iterable[str], asked: Asked) -> dict[str, float | None]:
    """Those of the ports that the server still has; each is asked for once.

    Raises :class:`stoker.kernel.errors.RequestError` for one that does not leave.
    """
    left: dict[str, float | None] = {}
    for port_id in ports:
        port = PORTS.find(call.cloud, port_id)
        if port is None or port.get("device_id") != call.physical_id:
            continue
        since = asked.get(port_id)
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
    """Ask for a port to be detached; False while the server is busy with something else."""
    path = SERVERS.at(call.object_id, f"/os-interface/{port_id}")
    try:
        send(call.cloud.compute, "DELETE", path)
    except CloudError as fault:
        if is_not_found(fault):
            unbind(call, port_id)
        elif is_conflict(fault) and "task_state" in fault.message:
            return False
        else:
            raise
    return True


def unbind(call: Call, port_id: str) -> None:
    """Take a port from a server that is gone or cannot let go of it."""
    PORTS.update(call.cloud, port_id, UNBOUND)


def attach(call: Call, port_id: str | None, tag: str | None = None) -> None:
    """Give a port to the server; without one the compute service chooses a network."""
    attachment: dict[str, Any] = {"port_id": port_id} if port_id else {}
    if tag:
        attachment["tag"] = tag
    send(
        call.cloud.compute,
        "POST",
        SERVERS.at(call.object_id, "/os-interface"),
        json={"interfaceAttachment": attachment},
        microversion="2.49" if tag else None,
    )


def tags_of(call: Call) -> dict[str, str]:
    """The tags of the server's interfaces, by port."""
    path = SERVERS.at(call.object_id, "/os-interface")
    answer = send(call.cloud.compute, "GET", path, microversion="2.70")
    listed = answer.get("interfaceAttachments", [])
    return {str(item["port_id"]): str(item["tag"]) for item in listed if item.get("tag")}
