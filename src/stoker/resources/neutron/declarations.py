"""Declarations that several network types share."""

from __future__ import annotations

from stoker.resources.declare import checked, choice
from stoker.schema.constraints import AllowedValues, Range
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.support import since

IP_VERSION = Property(
    Type.INTEGER, "IP version of the subnet.", default=4, constraints=(AllowedValues([4, 6]),)
)
DNS_DOMAIN = checked(
    "dns_domain", "DNS domain of the addresses.", update_allowed=True, support=since("7.0.0")
)
FIXED_IP_ADDRESS = checked(
    "ip_addr", "Fixed address that the floating IP is mapped to.", update_allowed=True
)
IP_ADDRESS = checked("ip_addr", "IP address.")
ROUTE = Property(
    Type.MAP,
    entries={
        "destination": checked("net_cidr", "Destination network of the route.", required=True),
        "nexthop": checked("ip_addr", "Address of the next hop.", required=True),
    },
)

DIRECTION = choice(["ingress", "egress"], "Direction of the traffic.", default="ingress")
ETHERTYPE = choice(["IPv4", "IPv6"], "IP version of the traffic.", default="IPv4")
PORT_RANGE_MIN = Property(
    Type.INTEGER, "Lowest port, or type of an ICMP message.", constraints=(Range(min=0, max=65535),)
)
PORT_RANGE_MAX = Property(
    Type.INTEGER,
    "Highest port, or code of an ICMP message.",
    constraints=(Range(min=0, max=65535),),
)
REMOTE_IP_PREFIX = checked("net_cidr", "Addresses of the remote side, in CIDR notation.")

PORT_SECURITY = Attribute(
    "Whether the service drops traffic from forged addresses.",
    type=Type.BOOLEAN,
    support=since("5.0.0"),
)
QOS_POLICY_ID = Attribute(
    "Id of the quality of service policy.", type=Type.STRING, support=since("6.0.0")
)
