"""Maps a virtual private cloud of AWS to a network and a router of the same name.

Route tables are routers, too. Their description names the network, so that the attachment of a
gateway finds them.
"""

from __future__ import annotations

from typing import Any

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import FLOATING_IPS, NETWORKS, PORTS, ROUTERS
from stoker.kernel.errors import NotFoundError
from stoker.resources.base import declare

TAGS = declare.sequence(
    "Not available.",
    items=declare.mapping(
        implemented=False,
        entries={
            "Key": declare.string("Key.", required=True),
            "Value": declare.string("Value.", required=True),
        },
    ),
)
_PRESENT = frozenset({400, 409})  # Neutron's answers if the interface may exist already.


def external_network(cloud: Any) -> str:
    """Return the external network. Raise :class:`NotFoundError` unless there is exactly one."""
    outside: dict[str, Any] = {"router:external": True}
    found = NETWORKS.select(cloud, **outside)
    if len(found) != 1:
        raise NotFoundError(f"there are {len(found)} external networks, and one is needed")
    return str(found[0]["id"])


def router_of(cloud: Any, network: str) -> Object | None:
    """Return the router of a virtual private cloud."""
    vpc = NETWORKS.find(cloud, network)
    found = [] if vpc is None else ROUTERS.named(cloud, str(vpc["name"]))
    return found[0] if found else None


def table_mark(network: str) -> str:
    """Return the description of a route table."""
    return f"route table of {network}"


def routers_at(cloud: Any, subnet: str) -> list[str]:
    """Return the ids of the routers with an interface in a subnet."""
    ports = PORTS.select(cloud, fixed_ips=f"subnet_id={subnet}")
    owned = [port for port in ports if "router_interface" in str(port.get("device_owner"))]
    return [str(port["device_id"]) for port in owned]


def connect(cloud: Any, router: str, subnet: str) -> None:
    """Add an interface in a subnet to a router; an existing one is fine."""
    path = ROUTERS.at(router, "/add_router_interface")
    try:
        ROUTERS.ask(cloud, "PUT", path, json={"subnet_id": subnet})
    except CloudError as fault:
        if fault.status_code not in _PRESENT or router not in routers_at(cloud, subnet):
            raise


def disconnect(cloud: Any, router: str, subnet: str) -> None:
    """Remove the interface of a router in a subnet, if there is one."""
    if router in routers_at(cloud, subnet):
        path = ROUTERS.at(router, "/remove_router_interface")
        ROUTERS.ask(cloud, "PUT", path, json={"subnet_id": subnet})


def port_of(cloud: Any, server: str) -> str:
    """Return the first port of a server. Raise :class:`NotFoundError` if it has none."""
    ports = PORTS.select(cloud, device_id=server)
    if not ports:
        raise NotFoundError(f"the server {server} has no port")
    return str(min(ports, key=lambda port: str(port.get("created_at")))["id"])


def address_called(cloud: Any, address: str) -> Object:
    """Return the floating IP with this address. Raise :class:`NotFoundError` if there is none."""
    found = FLOATING_IPS.select(cloud, floating_ip_address=address)
    if not found:
        raise NotFoundError(f"there is no floating IP {address}")
    return found[0]
