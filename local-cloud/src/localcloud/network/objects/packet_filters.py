"""Security groups as packet filters: from the API's rules to those of the fabric."""

from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_network
from typing import Any

from localcloud.fabric.interface import Direction, Rule

# Protocol numbers by the names that a rule may use.
PROTOCOLS = {
    "ah": 51, "dccp": 33, "egp": 8, "esp": 50, "gre": 47, "hopopt": 0, "icmp": 1, "icmpv6": 58,
    "igmp": 2, "ip": 0, "ipip": 4, "ipv6-encap": 41, "ipv6-frag": 44, "ipv6-icmp": 58,
    "ipv6-nonxt": 59, "ipv6-opts": 60, "ipv6-route": 43, "ospf": 89, "pgm": 113, "rsvp": 46,
    "sctp": 132, "tcp": 6, "udp": 17, "udplite": 136, "vrrp": 112,
}  # fmt: skip

_PLAIN = {1: "icmp", 6: "tcp", 17: "udp"}


def protocol_number(protocol: str | None) -> int | None:
    """Return the number of a protocol given by name or number; None for any."""
    if protocol is None or protocol == "any":
        return None
    if protocol in PROTOCOLS:
        return PROTOCOLS[protocol]
    return int(protocol)


def _protocol(protocol: str | None) -> str | None:
    number = protocol_number(protocol)
    return None if number is None else _PLAIN.get(number, str(number))


def _of_version(addresses: Iterable[str], ethertype: str) -> tuple[str, ...]:
    six = ethertype == "IPv6"
    return tuple(address for address in addresses if (":" in address) == six)


def resolve(
    rules: Iterable[Mapping[str, Any]],
    group_members: Callable[[str, str], Iterable[str]],
    address_group_members: Callable[[str], Iterable[str]],
) -> tuple[Rule, ...]:
    """Return the fabric's rules; remote ends become the CIDRs that the look-ups return.

    ``group_members`` takes the id of a security group and an ethertype.
    """
    resolved: dict[Rule, None] = {}
    for rule in rules:
        remotes: tuple[str, ...] | None = None
        if rule["remote_group_id"]:
            remotes = tuple(group_members(rule["remote_group_id"], rule["ethertype"]))
        elif rule["remote_address_group_id"]:
            found = address_group_members(rule["remote_address_group_id"])
            remotes = _of_version(found, rule["ethertype"])
        elif rule["remote_ip_prefix"]:
            prefix = ip_network(rule["remote_ip_prefix"], strict=False)
            remotes = None if prefix.prefixlen == 0 else (str(prefix),)
        made = Rule(
            direction=Direction(rule["direction"]),
            ethertype=rule["ethertype"],
            protocol=_protocol(rule["protocol"]),
            port_min=rule["port_range_min"],
            port_max=rule["port_range_max"],
            remotes=remotes,
        )
        resolved[made] = None
    return tuple(resolved)
