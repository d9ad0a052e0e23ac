"""Order between network resources that do not name each other.

A port takes its address from whichever subnet its network has, a floating IP needs the router
that leads to it: templates say neither by a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.unknown import unknown_in

Others = Mapping[str, tuple[str, Mapping[str, Any]]]
"""Name of each other resource -> its type name and properties."""

_SUBNET = "OS::Neutron::Subnet"
_PORT = "OS::Neutron::Port"
_ROUTER = "OS::Neutron::Router"
_ROUTER_INTERFACE = "OS::Neutron::RouterInterface"


def given(properties: Mapping[str, Any], *names: str) -> Any:
    """The value of a property under its name or one of its old names; None when absent."""
    return next((properties[name] for name in names if properties.get(name) is not None), None)


def subnets_of(network: Any, others: Others) -> set[str]:
    """Names of the subnets to be made in a network, which is a value or Unknown."""
    if network is None:
        return set()
    return {
        name
        for name, (type_name, properties) in others.items()
        if type_name == _SUBNET and given(properties, "network", "network_id") == network
    }


def gateways_to(network: Any, others: Others) -> set[str]:
    """Names of the routers whose gateway is in an external network."""
    if network is None:
        return set()
    return {
        name
        for name, (type_name, properties) in others.items()
        if type_name == _ROUTER
        and (properties.get("external_gateway_info") or {}).get("network") == network
    }


def interfaces_towards(port: Any, others: Others) -> set[str]:
    """Names of the router interfaces on the subnets of a port, which is a value or Unknown."""
    source = unknown_in(port)
    if source is None:
        return set()
    subnets = []
    for name in source.sources:
        type_name, properties = others.get(name, ("", {}))
        if type_name == _PORT:
            subnets += _subnets_of_port(properties, others)
    return {
        name
        for name, (type_name, properties) in others.items()
        if type_name == _ROUTER_INTERFACE and given(properties, "subnet", "subnet_id") in subnets
    }


def _subnets_of_port(port: Mapping[str, Any], others: Others) -> list[Any]:
    """The values by which other resources refer to the subnets that a port may be on."""
    fixed_ips = port.get("fixed_ips") or []
    named = [given(entry, "subnet", "subnet_id") for entry in fixed_ips]
    if any(value is not None for value in named):
        return [value for value in named if value is not None]
    possible = subnets_of(given(port, "network", "network_id"), others)
    candidates = [
        given(properties, "subnet", "subnet_id")
        for type_name, properties in others.values()
        if type_name == _ROUTER_INTERFACE
    ]
    return [value for value in candidates if _refers_to(value, possible)]


def _refers_to(value: Any, names: set[str]) -> bool:
    found = unknown_in(value)
    return found is not None and bool(found.sources & names)
