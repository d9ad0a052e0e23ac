"""Network resources that the service rejects because of other resources of the template.

A fault is certain or not reported. Values that are not known yet, objects that exist outside the
stack, and resources of types whose effect is not known count as correct.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collections import PORTS, SUBNETS
from stoker.kernel.diagnostics import Path
from stoker.resources.base.network_order import (
    NETWORK_NAMES,
    ROUTER_NAMES,
    SUBNET_NAMES,
    subnets_of,
)
from stoker.schema.resource_type import Impossible
from stoker.schema.resource_type.neighbours import Neighbours, first_value
from stoker.schema.unknown import Unknown

_NET = "OS::Neutron::Net"
_SUBNET = "OS::Neutron::Subnet"
_PORT = "OS::Neutron::Port"
_ROUTER = "OS::Neutron::Router"
_ROUTER_GATEWAY = "OS::Neutron::RouterGateway"
_ROUTER_INTERFACE = "OS::Neutron::RouterInterface"
# Types that use a network, and connect it with no other.
_ONLY_USERS = frozenset(
    {
        _PORT,
        _SUBNET,
        "OS::Neutron::FloatingIP",
        "OS::Neutron::FloatingIPAssociation",
        "OS::Nova::Server",
        "OS::Octavia::LoadBalancer",
        "OS::Octavia::PoolMember",
    }
)
# Services with this extension associate a floating IP only through a router with a gateway.
_GATEWAYS = "ext-gw-mode"

_MOST_REQUESTS = 10  # addresses of one resource that are checked
# The path of an address from the properties, its subnet and the address.
Request = tuple[Path, Any, Any]


def outside_subnets(requests: Iterable[Request], others: Neighbours) -> Sequence[Impossible]:
    """Return the addresses that are not in the range of their subnet."""
    found = []
    for path, subnet, address in requests:
        name = others.referred(subnet, _SUBNET)
        cidr = None if name is None else others[name][1].get("cidr")
        if isinstance(address, str) and isinstance(cidr, str) and not is_in_range(address, cidr):
            found.append(_outside(path, address, cidr, name))
    return found


def _outside(path: Path, address: str, cidr: str, subnet: Any) -> Impossible:
    message = f"{address} is not in {cidr}, the range of the subnet {subnet}"
    return Impossible(path, f"{message}: choose an address of this range, or another subnet")


def taken_addresses(cloud: Any, requests: Iterable[tuple[Path, Any, Any, Any]]) -> list[Impossible]:
    """Return addresses that are outside an existing subnet, or that another port has.

    Each request is the path, the network, the subnet and the address. At most ten are checked.
    """
    found = []
    known = [each for each in requests if isinstance(each[3], str)]
    for path, network, subnet, address in known[:_MOST_REQUESTS]:
        if isinstance(subnet, str):
            existing = SUBNETS.find(cloud, subnet)
            if existing is None:
                continue
            cidr, network = existing["cidr"], existing["network_id"]
            if not is_in_range(address, cidr):
                found.append(_outside(path, address, cidr, existing["name"]))
                continue
        if not isinstance(network, str):
            continue
        for port in PORTS.select(cloud, network_id=network, fixed_ips=f"ip_address={address}"):
            used = any(each["ip_address"] == address for each in port.get("fixed_ips") or ())
            if used:
                holders = (port["id"], port.get("device_id") or port["id"])
                message = f"the port {port['id']} has the address {address}: choose another"
                found.append(Impossible(path, message, holders=holders))
    return found


def is_in_range(address: str, cidr: str) -> bool:
    """Return whether an address is in a range; True for texts that are neither."""
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return True


def unreachable_port(
    port: Any, others: Neighbours, existing: Collection[str]
) -> Sequence[Impossible]:
    """Return a fault if no router connects the new network of a port to an external one.

    ``port`` is the value of the property ``port_id`` of a floating IP.
    """
    name = others.referred(port, _PORT)
    network = None if name is None else first_value(others[name][1], *NETWORK_NAMES)
    net = others.referred(network, _NET)
    if net is None or net in existing:
        return []
    inside = {net, *subnets_of(network, others)}
    inside |= {
        each for at in inside for each in others.referring_to(at) if _is(others, each, _PORT)
    }
    users = {each for at in inside for each in others.referring_to(at)} - inside
    users |= _users_by_name(inside, others)
    interfaces = {each for each in users if _is(others, each, _ROUTER_INTERFACE)}
    if any(others[each][0] not in _ONLY_USERS for each in users - interfaces):
        return []
    if not all(_leads_nowhere(others[each][1], others, existing) for each in interfaces):
        return []
    missing = (
        "the router has no external gateway: give it external_gateway_info with the network of the"
        " floating IP"
        if interfaces
        else f"no router connects {net} to the network of the floating IP: add an"
        f" {_ROUTER_INTERFACE} for a subnet of {net} and a router with external_gateway_info"
    )
    return [Impossible(("port_id",), f"the port {name} cannot be reached, {missing}", _GATEWAYS)]


def _is(others: Neighbours, name: str, type_name: str) -> bool:
    return others[name][0] == type_name


def _users_by_name(inside: Iterable[str], others: Neighbours) -> set[str]:
    """Return the resources that may use a network by the name that the template gives it."""
    if not any(others[each][1].get("name") for each in inside):
        return set()
    named = {
        each
        for each in others.of_type(_ROUTER_INTERFACE)
        if not isinstance(first_value(others[each][1], *SUBNET_NAMES, "port", "port_id"), Unknown)
    }
    # Nested stacks and groups may have any resources inside.
    nested = {each for each, (kind, _) in others.items() if not kind.startswith("OS::")}
    groups = {each for each, (kind, _) in others.items() if kind.startswith("OS::Heat::")}
    return named | nested | groups


def _leads_nowhere(
    interface: Mapping[str, Any], others: Neighbours, existing: Collection[str]
) -> bool:
    """Return whether the router of an interface certainly has no external gateway."""
    router = first_value(interface, *ROUTER_NAMES)
    name = others.referred(router, _ROUTER)
    if name is None or name in existing:
        return False
    properties = others[name][1]
    if properties.get("external_gateway_info") is not None or properties.get("name"):
        return False
    return all(_is(others, each, _ROUTER_INTERFACE) for each in others.referring_to(name))
