"""Finds the order between network resources that do not refer to each other.

A port gets its address from one of the subnets of its network, and a floating IP needs the router
that connects its network to the outside. Templates express neither with a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.base.declare import records_in
from stoker.schema.resource_type.neighbours import Neighbour, Neighbours, first_value
from stoker.schema.unknown import unknown_in

Others = Mapping[str, Neighbour]  # Name of each other resource -> its type name and properties.

_SUBNET = "OS::Neutron::Subnet"
_PORT = "OS::Neutron::Port"
_ROUTER = "OS::Neutron::Router"
_ROUTER_GATEWAY = "OS::Neutron::RouterGateway"
_ROUTER_INTERFACE = "OS::Neutron::RouterInterface"
NETWORK_NAMES = ("network", "network_id")
SUBNET_NAMES = ("subnet", "subnet_id")
ROUTER_NAMES = ("router", "router_id")


def _indexed(others: Others) -> Neighbours:
    return others if isinstance(others, Neighbours) else Neighbours(others)


def subnets_of(network: Any, others: Others) -> set[str]:
    """Return the names of the subnets that the template creates in a network (a value or
    Unknown)."""
    return set(_indexed(others).with_value(_SUBNET, NETWORK_NAMES, network))


def gateways_to(network: Any, others: Others) -> set[str]:
    """Return the names of routers, and of router gateways, that connect to an external network."""
    if network is None:
        return set()
    index = _indexed(others)
    found = set(index.with_value(_ROUTER_GATEWAY, NETWORK_NAMES, network))
    for name in index.of_type(_ROUTER):
        gateway = others[name][1].get("external_gateway_info")
        if isinstance(gateway, Mapping) and gateway.get("network") == network:
            found.add(name)
    return found


def interfaces_of(router: Any, others: Others) -> set[str]:
    """Return the names of the interfaces of a router (a value or Unknown)."""
    return set(_indexed(others).with_value(_ROUTER_INTERFACE, ROUTER_NAMES, router))


def interfaces_towards(port: Any, others: Others) -> set[str]:
    """Return the names of the router interfaces on the subnets of a port (a value or Unknown)."""
    source = unknown_in(port)
    if source is None:
        return set()
    index = _indexed(others)
    found: set[str] = set()
    for name in source.sources:
        type_name, properties = others.get(name, ("", {}))
        if type_name == _PORT:
            found |= _interfaces_on_subnets_of(properties, index)
    return found


def _interfaces_on_subnets_of(port: Mapping[str, Any], index: Neighbours) -> set[str]:
    named = [first_value(entry, *SUBNET_NAMES) for _, entry in records_in(port.get("fixed_ips"))]
    found: set[str] = set()
    for subnet in named:
        found |= index.with_value(_ROUTER_INTERFACE, SUBNET_NAMES, subnet)
    if any(subnet is not None for subnet in named):
        return found
    possible = subnets_of(first_value(port, *NETWORK_NAMES), index)
    for name in index.of_type(_ROUTER_INTERFACE):
        subnet = unknown_in(first_value(index[name][1], *SUBNET_NAMES))
        if subnet is not None and subnet.sources & possible:
            found.add(name)
    return found
