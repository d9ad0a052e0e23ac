"""Networks, subnets and routers of a template as rules of lint need them."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from msgspec import Struct

from stoker.cli.authoring.lint.views import Resource, TemplateView, first_of
from stoker.kernel.diagnostics import Path

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


class Pool(Struct, frozen=True):
    """An allocation pool with constant addresses."""

    start: Address
    end: Address
    path: Path


class Subnet(Struct, frozen=True):
    """A subnet with a constant range of addresses."""

    resource: Resource
    network: Any  # name of the network's resource, its literal name, or None
    range: Network
    pools: tuple[Pool, ...]
    gateway: Address | None


def subnets(view: TemplateView) -> Iterator[Subnet]:
    """Yield the subnets whose range is constant."""
    for resource in view.of_type("OS::Neutron::Subnet"):
        range_ = network_of(view.constant(resource.properties.get("cidr")))
        if range_ is None:
            continue
        yield Subnet(
            resource,
            network_named(view, resource.properties),
            range_,
            tuple(_pools(view, resource)),
            address_of(view.constant(resource.properties.get("gateway_ip"))),
        )


def _pools(view: TemplateView, resource: Resource) -> Iterator[Pool]:
    written = resource.properties.get("allocation_pools")
    for entry, path in view.entries(written, resource.at("allocation_pools")):
        if isinstance(entry, dict):
            start, end = (address_of(view.constant(entry.get(key))) for key in ("start", "end"))
            if start is not None and end is not None and start.version == end.version:
                yield Pool(start, end, path)


def network_named(view: TemplateView, properties: Any) -> str | None:
    """Return the resource or the name of the network that properties refer to, or None."""
    written = first_of([properties.get("network"), properties.get("network_id")])
    name = view.resource_in(written)
    if name is not None:
        return name
    return written if isinstance(written, str) else None


def network_of(value: Any) -> Network | None:
    """Return a constant as a range of addresses, or None. Bits of a host may be set."""
    if not isinstance(value, str) or "/" not in value:
        return None
    try:
        return ip_network(value.strip(), strict=False)
    except ValueError:
        return None


def address_of(value: Any) -> Address | None:
    """Return a constant as an address, or None."""
    try:
        return ip_address(value.strip()) if isinstance(value, str) else None
    except ValueError:
        return None


def overlap(one: Network, other: Network) -> bool:
    """Return whether two ranges have common addresses."""
    if isinstance(one, IPv4Network) and isinstance(other, IPv4Network):
        return one.overlaps(other)
    if isinstance(one, IPv6Network) and isinstance(other, IPv6Network):
        return one.overlaps(other)
    return False


def subnets_of_routers(view: TemplateView) -> dict[str, list[str]]:
    """Return the subnets of the template that each router has an interface in."""
    found: dict[str, list[str]] = {}
    for resource in view.of_type("OS::Neutron::RouterInterface"):
        properties = resource.properties
        router = view.resource_in(first_of([properties.get("router"), properties.get("router_id")]))
        subnet = view.resource_in(first_of([properties.get("subnet"), properties.get("subnet_id")]))
        if router is not None and subnet is not None:
            found.setdefault(router, []).append(subnet)
    return found
