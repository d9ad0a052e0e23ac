"""Virtual private clouds, in CloudFormation's words: a network with a router of the same name.

Route tables are routers, too. Their descriptions say which network they are for, so that the
attachment of a gateway finds them.
"""

from __future__ import annotations

from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import FLOATING_IPS, NETWORKS, PORTS, ROUTERS
from stoker.clouds.faults import CloudError
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
_PRESENT = frozenset({400, 409})
"""Answers to a request for an interface that may be there already."""


def external_network(cloud: Any) -> str:
    """The network outside. Raises :class:`NotFoundError` where there is not exactly one."""
    outside: dict[str, Any] = {"router:external": True}
    found = NETWORKS.select(cloud, **outside)
    if len(found) != 1:
        raise NotFoundError(f"there are {len(found)} external networks, and one is needed")
    return str(found[0]["id"])


def router_of(cloud: Any, network: str) -> Object | None:
    """The router of a virtual private cloud."""
    vpc = NETWORKS.find(cloud, network)
    found = [] if vpc is None else ROUTERS.named(cloud, str(vpc["name"]))
    return found[0] if found else None


def table_mark(network: str) -> str:
    """Return the description of a route table."""
    return f"route table of {network}"


def routers_at(cloud: Any, subnet: str) -> list[str]:
    """The routers that have an interface in a subnet."""
    ports = PORTS.select(cloud, fixed_ips=f"subnet_id={subnet}")
    owned = [port for port in ports if "router_interface" in str(port.get("device_owner"))]
    return [str(port["device_id"]) for port in owned]


def connect(cloud: Any, router: str, subnet: str) -> None:
    """Give a router an interface in a subnet, unless it has one."""
    path = ROUTERS.at(router, "/add_router_interface")
    try:
        ROUTERS.ask(cloud, "PUT", path, json={"subnet_id": subnet})
    except CloudError as fault:
        if fault.status_code not in _PRESENT or router not in routers_at(cloud, subnet):
            raise


def disconnect(cloud: Any, router: str, subnet: str) -> None:
    """Take the interface of a router away, if it has one."""
    if router in routers_at(cloud, subnet):
        path = ROUTERS.at(router, "/remove_router_interface")
        ROUTERS.ask(cloud, "PUT", path, json={"subnet_id": subnet})


def port_of(cloud: Any, server: str) -> str:
    """The first port of a server. Raises :class:`NotFoundError` for a server without one."""
    ports = PORTS.select(cloud, device_id=server)
    if not ports:
        raise NotFoundError(f"the server {server} has no port")
    return str(min(ports, key=lambda port: str(port.get("created_at")))["id"])


def address_called(cloud: Any, address: str) -> Object:
    """The floating IP with an address. Raises :class:`NotFoundError` if there is none."""
    found = FLOATING_IPS.select(cloud, floating_ip_address=address)
    if not found:
        raise NotFoundError(f"there is no floating IP {address}")
    return found[0]
