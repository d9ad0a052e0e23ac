"""Declarations that several network types share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.base import declare
from stoker.schema.constraints import AllowedValues, Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import deprecated, hidden, since

IP_VERSION = declare.integer(
    "IP version of the subnet.", default=4, constraints=(AllowedValues([4, 6]),)
)
DNS_DOMAIN = declare.checked(
    "dns_domain", "DNS domain of the addresses.", update_allowed=True, support=since("7.0.0")
)
FIXED_IP_ADDRESS = declare.checked(
    "ip_addr", "Fixed address that the floating IP is mapped to.", update_allowed=True
)
NETWORK = declare.by_name("neutron.network", "Network", required=True, support=since("2014.2"))
NETWORK_ID = declare.old_name("network", "neutron.network", hidden("5.0.0", deprecated("2014.2")))
IP_ADDRESS = declare.checked("ip_addr", "IP address.")
ROUTE = declare.mapping(
    entries={
        "destination": declare.checked(
            "net_cidr", "Destination network of the route.", required=True
        ),
        "nexthop": declare.checked("ip_addr", "Address of the next hop.", required=True),
    }
)

DIRECTION = declare.choice(["ingress", "egress"], "Direction of the traffic.", default="ingress")
ETHERTYPE = declare.choice(["IPv4", "IPv6"], "IP version of the traffic.", default="IPv4")
PORT_RANGE_MIN = declare.integer(
    "Lowest port, or type of an ICMP message.", constraints=(Range(min=0, max=65535),)
)
PORT_RANGE_MAX = declare.integer(
    "Highest port, or code of an ICMP message.", constraints=(Range(min=0, max=65535),)
)
REMOTE_IP_PREFIX = declare.checked("net_cidr", "Addresses of the remote side, in CIDR notation.")

PORT_SECURITY = Attribute(
    "Drop traffic from addresses that a port does not own.",
    type=Type.BOOLEAN,
    support=since("5.0.0"),
)
QOS_POLICY_ID = Attribute(
    "Id of the quality of service policy.", type=Type.STRING, support=since("6.0.0")
)

GATEWAY = "router gateway"


def gateway_part(router: str) -> str:
    """Return the shared part for the gateway of a router."""
    return f"{GATEWAY} {router}"


ROUTES = "route"


def route_part(router: str, route: Mapping[str, Any]) -> str:
    """Return the shared part for a route of a router."""
    return f"{ROUTES} {router} {route['destination']} {route['nexthop']}"
