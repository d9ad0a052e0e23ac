"""OS::Neutron::Subnet: a range of addresses of a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SUBNETS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.declare import records_in
from stoker.resources.base.network_faults import is_in_range
from stoker.resources.base.rest import RestResource
from stoker.resources.neutron.declarations import IP_VERSION, NETWORK, NETWORK_ID, ROUTE
from stoker.resources.neutron.tags import tags_of
from stoker.resources.shared.networks.port_users import ports_in_subnet
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import Support, SupportStatus, since
from stoker.schema.unknown import Unknown

_IPV6 = 6
_MODES = ["dhcpv6-stateful", "dhcpv6-stateless", "slaac"]


class Subnet(RestResource):
    """A subnet."""

    type_name = "OS::Neutron::Subnet"
    description = "A range of addresses of a network, with its gateway, routes and name servers."
    service = "network"
    collection = SUBNETS
    quota = "network/subnet"
    users = staticmethod(ports_in_subnet)
    field_names = {"network": "network_id", "subnetpool": "subnetpool_id", "segment": "segment_id"}
    follow_up_requests = (tags_of(SUBNETS),)

    properties = {
        "allocation_pools": declare.records(
            "Ranges for the allocation of addresses.",
            update_allowed=True,
            entries={
                "end": declare.checked("ip_addr", "Last address of the range.", required=True),
                "start": declare.checked("ip_addr", "First address of the range.", required=True),
            },
        ),
        "cidr": declare.checked("net_cidr", "Addresses of the subnet, in CIDR notation."),
        "dns_nameservers": declare.sequence(
            "Addresses of name servers.", default=[], update_allowed=True
        ),
        "enable_dhcp": declare.boolean(
            "Whether DHCP is enabled.", default=True, update_allowed=True
        ),
        "gateway_ip": declare.string(
            "Address of the gateway; empty for no gateway.", update_allowed=True
        ),
        "host_routes": declare.sequence(
            "Routes that servers receive by DHCP.", update_allowed=True, items=ROUTE
        ),
        "ip_version": IP_VERSION,
        "ipv6_address_mode": declare.choice(
            _MODES, "Assignment of IPv6 addresses to servers.", support=since("2015.1")
        ),
        "ipv6_ra_mode": declare.choice(
            _MODES, "Mode of IPv6 router advertisements.", support=since("2015.1")
        ),
        "name": declare.NAME,
        "network": NETWORK,
        "network_id": NETWORK_ID,
        "prefixlen": declare.at_least(
            0, "Prefix length to allocate from the subnet pool.", support=since("6.0.0")
        ),
        "segment": declare.by_name(
            "neutron.segment",
            "Segment of the network",
            update_allowed=True,
            support=SupportStatus(Support.SUPPORTED, "11.0.0", previous=since("9.0.0")),
        ),
        "subnetpool": declare.by_name(
            "neutron.subnetpool",
            "Subnet pool for the allocation of addresses",
            support=since("6.0.0"),
        ),
        "tags": declare.tags("9.0.0"),
        "tenant_id": declare.TENANT_ID,
        "value_specs": declare.VALUE_SPECS,
    }
    attributes = {
        "allocation_pools": Attribute("Ranges for the allocation of addresses.", type=Type.LIST),
        "cidr": Attribute("Addresses of the subnet, in CIDR notation.", type=Type.STRING),
        "dns_nameservers": Attribute("Addresses of name servers.", type=Type.LIST),
        "enable_dhcp": Attribute("Whether DHCP is enabled.", type=Type.STRING),
        "gateway_ip": Attribute("Address of the gateway; empty for no gateway.", type=Type.STRING),
        "host_routes": Attribute("Routes that servers receive by DHCP.", type=Type.LIST),
        "ip_version": Attribute("IP version of the subnet.", type=Type.STRING),
        "name": Attribute("Name of the object.", type=Type.STRING),
        "network_id": Attribute("Id of the network.", type=Type.STRING),
        "tenant_id": Attribute("Id of the project.", type=Type.STRING),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields. An empty gateway becomes null, which means no gateway."""
        body = super().fields(properties)
        if body.get("gateway_ip") == "":
            body["gateway_ip"] = None
        return body

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties. The prefix length is part of the range."""
        observed = super().properties_of(call, found)
        return {**observed, "prefixlen": ip_network(found["cidr"]).prefixlen}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that either a CIDR or a pool is given, and that IPv6 modes are only given for
        IPv6."""
        findings = []
        cidr, pool = properties.get("cidr"), properties.get("subnetpool")
        if cidr is None and pool is None:
            findings.append(_finding("one of cidr and subnetpool is required", "cidr"))
        if cidr is not None and pool is not None:
            findings.append(_finding("cidr and subnetpool exclude each other", "subnetpool"))
        if cidr is not None and properties.get("prefixlen") is not None:
            findings.append(_finding("prefixlen goes with subnetpool, not with cidr", "prefixlen"))
        version = properties.get("ip_version")
        modes = [name for name in ("ipv6_ra_mode", "ipv6_address_mode") if properties.get(name)]
        if not isinstance(version, Unknown) and version != _IPV6:
            findings += [_finding(f"{mode} needs ip_version 6", mode) for mode in modes]
        values = [properties[mode] for mode in modes]
        if len(set(map(str, values))) > 1 and not any(isinstance(v, Unknown) for v in values):
            message = "ipv6_ra_mode and ipv6_address_mode must be the same when both are given"
            findings.append(_finding(message, "ipv6_address_mode"))
        gateway = properties.get("gateway_ip")
        if isinstance(gateway, str) and gateway and not _is_address(gateway):
            findings.append(_finding(f"{gateway!r} is not an IP address", "gateway_ip"))
        return [*findings, *_pool_findings(cidr, properties.get("allocation_pools"))]


def _finding(message: str, name: str) -> Diagnostic:
    return Diagnostic("invalid-subnet", message, (name,))


def _pool_findings(cidr: Any, pools: Any) -> Iterator[Diagnostic]:
    """Yield the bounds of allocation pools that are outside the range of the subnet."""
    for index, pool in records_in(pools):
        for name in ("start", "end"):
            address = pool.get(name)
            if not isinstance(cidr, str) or not isinstance(address, str):
                continue
            if not is_in_range(address, cidr):
                message = f"{address} is not in {cidr}, the range of the subnet"
                yield Diagnostic("invalid-subnet", message, ("allocation_pools", index, name))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
