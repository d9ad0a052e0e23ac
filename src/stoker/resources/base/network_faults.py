"""Network resources that the service rejects because of other resources of the template.

A fault is certain or not reported. Values that are not known yet, objects that exist outside the
stack, and resources of types whose effect is not known count as correct.
"""

from __future__ import annotations

import ipaddress
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from stoker.clouds.objects.collections import PORTS, SUBNETS
from stoker.kernel.diagnostics import Path
from stoker.resources.base.network_order import (
    NETWORK_NAMES,
    ROUTER_NAMES,
    SUBNET_NAMES,
    subnets_of,
)
from stoker.schema.resource_type import Call, Impossible
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


class AddressRequest(Struct, frozen=True):
    """A fixed address that a resource requests, with its path from the properties."""

    path: Path
    network: Any
    subnet: Any
    address: Any

    @property
    def is_known(self) -> bool:
        """Return whether the cloud can be asked about the address."""
        place = isinstance(self.network, str) or isinstance(self.subnet, str)
        return place and isinstance(self.address, str)


class RequestsFixedAddresses:
    """Finds the faults of the fixed addresses that a resource requests."""

    @abstractmethod
    def address_requests(self, properties: Mapping[str, Any]) -> Iterable[AddressRequest]:
        """Return the requested addresses; values may be Unknown or None."""

    def requested_addresses(self, properties: Mapping[str, Any]) -> Sequence[tuple[Path, Any, Any]]:
        """Return path, network and address of each request."""
        requests = self.address_requests(properties)
        return [(each.path, each.network, each.address) for each in requests]

    def impossible_beside(
        self, properties: Mapping[str, Any], others: Neighbours, existing: Collection[str]
    ) -> Sequence[Impossible]:
        """Return the addresses that are outside a subnet of the template."""
        found: list[Impossible] = []
        for each in self.address_requests(properties):
            name = others.referred(each.subnet, _SUBNET)
            cidr = None if name is None else others[name][1].get("cidr")
            if isinstance(each.address, str) and isinstance(cidr, str):
                found += _outside(each, cidr, name)
        return found

    def may_be_obstructed(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the cloud can show faults of an address."""
        return any(each.is_known for each in self.address_requests(properties))

    def obstacles(self, call: Call) -> Sequence[Impossible]:
        """Return addresses that are outside an existing subnet, or that another port has.

        At most ten are checked.
        """
        requests = self.address_requests(call.properties)
        known = islice((each for each in requests if each.is_known), _MOST_REQUESTS)
        return [fault for each in known for fault in _faults_in(call.cloud, each)]


def _faults_in(cloud: Any, request: AddressRequest) -> Sequence[Impossible]:
    network, address = request.network, request.address
    if isinstance(request.subnet, str):
        subnet = SUBNETS.find(cloud, request.subnet)
        if subnet is None:
            return []
        network = subnet["network_id"]
        if outside := _outside(request, subnet["cidr"], subnet["name"]):
            return outside
    found = []
    for port in PORTS.select(cloud, network_id=network, fixed_ips=f"ip_address={address}"):
        if any(each["ip_address"] == address for each in port.get("fixed_ips") or ()):
            holders = (port["id"], port.get("device_id") or port["id"])
            message = f"the port {port['id']} has the address {address}: choose another"
            found.append(Impossible(request.path, message, holders=holders))
    return found


def _outside(request: AddressRequest, cidr: str, subnet: Any) -> Sequence[Impossible]:
    if is_in_range(request.address, cidr):
        return []
    message = f"{request.address} is not in {cidr}, the range of the subnet {subnet}"
    remedy = "choose an address of this range, or another subnet"
    return [Impossible(request.path, f"{message}: {remedy}")]


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
    missing = others.once(("route", net), lambda: _missing_route(net, network, others, existing))
    if not missing:
        return []
    return [Impossible(("port_id",), f"the port {name} cannot be reached, {missing}", _GATEWAYS)]


def _missing_route(
    net: str, network: Any, others: Neighbours, existing: Collection[str]
) -> str | None:
    """Return why no router connects a new network to an external one; None if one may do so."""
    inside = {net, *subnets_of(network, others)}
    inside |= {
        each for at in inside for each in others.referring_to(at) if _is(others, each, _PORT)
    }
    users = {each for at in inside for each in others.referring_to(at)} - inside
    users |= _users_by_name(inside, others)
    interfaces = {each for each in users if _is(others, each, _ROUTER_INTERFACE)}
    if any(others[each][0] not in _ONLY_USERS for each in users - interfaces):
        return None
    if not all(_leads_nowhere(others[each][1], others, existing) for each in interfaces):
        return None
    if interfaces:
        return (
            "the router has no external gateway: give it external_gateway_info with the network of"
            " the floating IP"
        )
    return (
        f"no router connects {net} to the network of the floating IP: add an {_ROUTER_INTERFACE}"
        f" for a subnet of {net} and a router with external_gateway_info"
    )


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
