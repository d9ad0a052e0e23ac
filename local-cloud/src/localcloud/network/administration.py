"""What administrators look at: agents, availability zones, use of addresses, providers."""

import platform
from typing import Any
from uuid import UUID, uuid5

from localcloud.http import RequestContext
from localcloud.network import ipam
from localcloud.network.errors import denied, not_found
from localcloud.network.networks import ZONE
from localcloud.network.state import State
from localcloud.store import Document

_SPACE = UUID("6a3c2b0e-7a0c-4c52-9f6e-0c5f6a4c1f5d")
_AGENTS = (
    ("L3 agent", "neutron-l3-agent", ZONE),
    ("Linux bridge agent", "neutron-linuxbridge-agent", None),
    ("DHCP agent", "neutron-dhcp-agent", ZONE),
    ("Metadata agent", "neutron-metadata-agent", None),
)


def _require_admin(context: RequestContext, action: str) -> None:
    if not context.is_admin:
        raise denied(action)


def agents(context: RequestContext, now: str) -> list[Document]:
    """Return the parts of the fabric under the names that tools expect."""
    _require_admin(context, "get_agent")
    host = platform.node() or "localhost"
    return [
        {
            "id": str(uuid5(_SPACE, binary)),
            "agent_type": type_name,
            "binary": binary,
            "host": host,
            "topic": "N/A",
            "availability_zone": zone,
            "admin_state_up": True,
            "alive": True,
            "created_at": now.replace("T", " ").rstrip("Z"),
            "started_at": now.replace("T", " ").rstrip("Z"),
            "heartbeat_timestamp": now.replace("T", " ").rstrip("Z"),
            "description": None,
            "configurations": {},
            "resources_synced": None,
        }
        for type_name, binary, zone in _AGENTS
    ]


def agent(context: RequestContext, now: str, object_id: str) -> Document:
    """Return one agent; raises the API's 404."""
    for found in agents(context, now):
        if found["id"] == object_id:
            return found
    raise not_found("agent", object_id)


def availability_zones() -> list[Document]:
    """Return the one zone of each kind."""
    return [
        {"name": ZONE, "resource": resource, "state": "available"}
        for resource in ("network", "router")
    ]


def service_providers() -> list[Document]:
    """Return who makes routers."""
    return [{"service_type": "L3_ROUTER_NAT", "name": "single_node", "default": True}]


def _availability(state: State, network: Document, versions: tuple[int, ...]) -> Document:
    subnets: list[dict[str, Any]] = [
        {
            "subnet_id": subnet["id"],
            "subnet_name": subnet["name"],
            "cidr": subnet["cidr"],
            "ip_version": subnet["ip_version"],
            "total_ips": ipam.pool_size(ipam.pools(subnet["allocation_pools"])),
            "used_ips": len(state.addresses(subnet["id"]).owners),
        }
        for subnet in state.subnets(network["id"])
        if subnet["ip_version"] in versions
    ]
    return {
        "network_id": network["id"],
        "network_name": network["name"],
        "project_id": network["project_id"],
        "tenant_id": network["project_id"],
        "total_ips": sum(subnet["total_ips"] for subnet in subnets),
        "used_ips": sum(subnet["used_ips"] for subnet in subnets),
        "subnet_ip_availability": subnets,
    }


def ip_availabilities(state: State, context: RequestContext, version: str | None) -> list[Document]:
    """Return the use of addresses of all networks, to administrators."""
    _require_admin(context, "get_network_ip_availability")
    versions = (int(version),) if version in ("4", "6") else (4, 6)
    return [_availability(state, network, versions) for network in state.all("network").values()]


def ip_availability(state: State, context: RequestContext, network_id: str) -> Document:
    """Return the use of addresses of one network."""
    _require_admin(context, "get_network_ip_availability")
    return _availability(state, state.get("network", network_id), (4, 6))
