"""Declarations that several network types share."""

from __future__ import annotations

from stoker.schema.constraints import AllowedValues, Custom, Range
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.support import since

IP_VERSION = Property(
    Type.INTEGER, "IP version of the subnet.", default=4, constraints=(AllowedValues([4, 6]),)
)
DNS_DOMAIN = Property(
    Type.STRING,
    "DNS domain of the addresses.",
    update_allowed=True,
    constraints=(Custom("dns_domain"),),
    support=since("7.0.0"),
)
FIXED_IP_ADDRESS = Property(
    Type.STRING,
    "Address of the port that the floating IP leads to.",
    update_allowed=True,
    constraints=(Custom("ip_addr"),),
)
IP_ADDRESS = Property(
    Type.STRING, "Address, or range where one is allowed.", constraints=(Custom("ip_addr"),)
)
ROUTE = Property(
    Type.MAP,
    entries={
        "destination": Property(
            Type.STRING,
            "Range that the route leads to.",
            required=True,
            constraints=(Custom("net_cidr"),),
        ),
        "nexthop": Property(
            Type.STRING,
            "Address that the route leads through.",
            required=True,
            constraints=(Custom("ip_addr"),),
        ),
    },
)

DIRECTION = Property(
    Type.STRING,
    "Direction of the traffic.",
    default="ingress",
    constraints=(AllowedValues(["ingress", "egress"]),),
)
ETHERTYPE = Property(
    Type.STRING,
    "IP version of the traffic.",
    default="IPv4",
    constraints=(AllowedValues(["IPv4", "IPv6"]),),
)
PORT_RANGE_MIN = Property(
    Type.INTEGER,
    "Lowest port, or type of an ICMP message.",
    constraints=(Range(min=0, max=65535),),
)
PORT_RANGE_MAX = Property(
    Type.INTEGER,
    "Highest port, or code of an ICMP message.",
    constraints=(Range(min=0, max=65535),),
)
REMOTE_IP_PREFIX = Property(
    Type.STRING, "Range of addresses on the other side.", constraints=(Custom("net_cidr"),)
)

PORT_SECURITY = Attribute(
    "Whether the service guards ports against forged addresses.",
    type=Type.BOOLEAN,
    support=since("5.0.0"),
)
QOS_POLICY_ID = Attribute(
    "Id of the quality of service policy.", type=Type.STRING, support=since("6.0.0")
)
