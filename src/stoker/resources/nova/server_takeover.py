"""Ports that a server takes over from the one that it replaces, and gives back.

A replacement is made before the old server goes, yet a port, and an address, belong to one server
at a time. The new server therefore takes them from its predecessor, which is known by its name.
What it takes is on record before it is taken: if the new server goes while the old one still
exists (a rollback), the old one gets its ports back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.collection import Object, send
from stoker.clouds.collections import PORTS, SERVERS
from stoker.clouds.faults import CloudFault, is_conflict, is_not_found
from stoker.kernel.ids import TOKEN_LENGTH
from stoker.resources.nova.server_ports import Nic, port_name
from stoker.resources.rest import marker_text
from stoker.schema.resource_type import Call

Taken = Mapping[str, Mapping[str, str]]
"""Port -> ``server`` that had it and, for a port made for that server, its ``name`` and
``description``."""


def plan_takeover(call: Call, wanted: Sequence[Nic]) -> dict[str, dict[str, str]]:
    """What has to be taken from a predecessor so that this server can have its ports."""
    plan: dict[str, dict[str, str]] = {}
    for nic in wanted:
        port = _named_port(call, nic) if nic.is_own else PORTS.find(call.cloud, nic.entry["port"])
        holder = str((port or {}).get("device_id") or "")
        if port is None or not holder or not _is_predecessor(call, holder):
            continue
        plan[str(port["id"])] = {"server": holder}
        if nic.is_own:
            plan[str(port["id"])] |= {"name": port["name"], "description": port["description"]}
    return plan


def _named_port(call: Call, nic: Nic) -> Object | None:
    """The predecessor's port for an entry with a fixed address, which no two ports can have."""
    if not nic.entry.get("fixed_ip"):
        return None
    query = f"ip_address={nic.entry['fixed_ip']}"
    for port in PORTS.select(call.cloud, fixed_ips=query):
        if str(port.get("name", "")).endswith(f"-port-{nic.key}"):
            return port
    return None


def _is_predecessor(call: Call, server_id: str) -> bool:
    server = SERVERS.find(call.cloud, server_id)
    if server is None or server_id == call.physical_id:
        return False
    name, mine = str(server.get("name", "")), call.physical_name
    if call.properties.get("name"):
        return bool(name == call.properties["name"])
    return name != mine and name[:-TOKEN_LENGTH] == mine[:-TOKEN_LENGTH]


def take(call: Call, taken: Taken, wanted: Sequence[Nic]) -> None:
    """Take the planned ports. Safe to repeat."""
    by_suffix = {f"-port-{nic.key}": nic for nic in wanted if nic.is_own}
    for port_id, record in taken.items():
        detach(call, record["server"], port_id)
        for suffix, nic in by_suffix.items():
            if record.get("name", "").endswith(suffix):
                body = {"name": port_name(call, nic), "description": marker_text(call)}
                PORTS.update(call.cloud, port_id, body)


def give_back(call: Call, taken: Taken) -> None:
    """Give ports back to the servers that had them, where both still exist."""
    for port_id, record in taken.items():
        port = PORTS.find(call.cloud, port_id)
        server = SERVERS.find(call.cloud, record["server"])
        if port is None or server is None or port.get("device_id") == record["server"]:
            continue
        if record.get("name"):
            marks = {"name": record["name"], "description": record["description"]}
            PORTS.update(call.cloud, port_id, marks)
        try:
            attach(call, record["server"], port_id)
        except CloudFault as fault:
            if not (is_not_found(fault) or is_conflict(fault)):
                raise


def detach(call: Call, server_id: str, port_id: str) -> None:
    """Take a port from a server; that either is gone is fine."""
    try:
        send(call.cloud.compute, "DELETE", SERVERS.at(server_id, f"/os-interface/{port_id}"))
    except CloudFault as fault:
        if not is_not_found(fault):
            raise


def attach(call: Call, server_id: str, port_id: str, tag: str | None = None) -> None:
    """Give a port to a server."""
    attachment: dict[str, Any] = {"port_id": port_id}
    if tag:
        attachment["tag"] = tag
    send(
        call.cloud.compute,
        "POST",
        SERVERS.at(server_id, "/os-interface"),
        json={"interfaceAttachment": attachment},
        microversion="2.49" if tag else None,
    )
