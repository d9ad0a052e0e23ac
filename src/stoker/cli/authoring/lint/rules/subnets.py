"""Rules about addresses of subnets, ports and routes."""

from __future__ import annotations

from itertools import combinations

from stoker.cli.authoring.lint.networks import (
    Subnet,
    address_of,
    network_of,
    overlap,
    subnets,
    subnets_of_routers,
)
from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.views import TemplateView, as_number, is_chosen

_SMALLEST = 30  # prefix of the smallest useful subnet of IPv4


@rule(
    Group.CORRECTNESS,
    "The gateway of a subnet is outside of its range.",
    severity=Severity.ERROR,
    why="Servers of the subnet cannot reach the gateway. Most networks refuse such a subnet.",
    remedy="Use an address of the range, or leave gateway_ip out for the first address.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/24, gateway_ip: 10.0.0.1}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/24, gateway_ip: 10.0.1.1}
        """,
)
def gateway_outside_subnet(view: TemplateView) -> Problems:
    """Yield gateways that are not in the range of their subnets."""
    for subnet in subnets(view):
        gateway = subnet.gateway
        if gateway is None or gateway.version != subnet.range.version or gateway in subnet.range:
            continue
        if not gateway.is_link_local:
            message = f"{gateway} is not in {subnet.range}"
            yield Problem(message, subnet.resource.at("gateway_ip"))


@rule(
    Group.CORRECTNESS,
    "An allocation pool ends before it starts.",
    severity=Severity.ERROR,
    why="The network service refuses the subnet.",
    remedy="Exchange start and end.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              allocation_pools:
                - {start: 10.0.1.100, end: 10.0.1.20}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              allocation_pools:
                - {start: 10.0.1.20, end: 10.0.1.100}
        """,
)
def pool_reversed(view: TemplateView) -> Problems:
    """Yield allocation pools whose end is below their start."""
    for subnet in subnets(view):
        for pool in subnet.pools:
            if int(pool.end) < int(pool.start):
                yield Problem(f"the pool ends at {pool.end}, before {pool.start}", pool.path)


@rule(
    Group.CORRECTNESS,
    "Two allocation pools of a subnet overlap.",
    severity=Severity.ERROR,
    why="The network service refuses the subnet.",
    remedy="Merge the pools, or separate them.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              allocation_pools:
                - {start: 10.0.1.10, end: 10.0.1.50}
                - {start: 10.0.1.40, end: 10.0.1.90}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              allocation_pools:
                - {start: 10.0.1.10, end: 10.0.1.39}
                - {start: 10.0.1.40, end: 10.0.1.90}
        """,
)
def pools_overlap(view: TemplateView) -> Problems:
    """Yield allocation pools that have addresses of an earlier one."""
    for subnet in subnets(view):
        certain = [pool for pool in subnet.pools if not is_chosen(pool.path)]
        for one, other in combinations(certain, 2):
            if int(one.start) <= int(other.end) and int(other.start) <= int(one.end):
                message = f"the pool has addresses of {one.start} to {one.end}, too"
                yield Problem(message, other.path)


@rule(
    Group.CORRECTNESS,
    "An allocation pool contains the gateway.",
    severity=Severity.ERROR,
    why="A server could get the address of the gateway. The network service refuses the subnet.",
    remedy="Leave the address of the gateway out of the pool.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              gateway_ip: 10.0.1.1
              allocation_pools:
                - {start: 10.0.1.1, end: 10.0.1.90}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              gateway_ip: 10.0.1.1
              allocation_pools:
                - {start: 10.0.1.2, end: 10.0.1.90}
        """,
)
def pool_contains_gateway(view: TemplateView) -> Problems:
    """Yield allocation pools with the gateway's address."""
    for subnet in subnets(view):
        if subnet.gateway is None:
            continue
        for pool in subnet.pools:
            if int(pool.start) <= int(subnet.gateway) <= int(pool.end):
                yield Problem(f"the pool contains the gateway {subnet.gateway}", pool.path)


def _overlapping(one: Subnet, other: Subnet) -> bool:
    return one.resource.name != other.resource.name and overlap(one.range, other.range)


@rule(
    Group.CORRECTNESS,
    "Two subnets of one network overlap.",
    severity=Severity.ERROR,
    why="The network service refuses the second subnet.",
    remedy="Give each subnet a range of its own.",
    bad="""
        resources:
          network: {type: OS::Neutron::Net}
          one:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.0.0/16}
          other:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.1.0/24}  # here
        """,
    good="""
        resources:
          network: {type: OS::Neutron::Net}
          one:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.0.0/24}
          other:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.1.0/24}
        """,
)
def subnets_overlap(view: TemplateView) -> Problems:
    """Yield subnets whose range overlaps with an earlier one of the same network."""
    found = [each for each in subnets(view) if "condition" not in each.resource.body]
    for one, other in combinations(found, 2):
        if one.network is not None and one.network == other.network and _overlapping(one, other):
            message = f'{other.range} overlaps with {one.range} of "{one.resource.name}"'
            yield Problem(message, other.resource.at("cidr"))


@rule(
    Group.CORRECTNESS,
    "Two subnets of one router overlap.",
    severity=Severity.ERROR,
    why="The router cannot decide between them. The network service refuses the second interface.",
    remedy="Give each subnet a range of its own.",
    bad="""
        resources:
          router: {type: OS::Neutron::Router}
          blue:
            type: OS::Neutron::Subnet
            properties: {network: blue, cidr: 10.0.0.0/24}
          green:
            type: OS::Neutron::Subnet
            properties: {network: green, cidr: 10.0.0.0/24}  # here
          blue_interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: {get_resource: blue}}
          green_interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: {get_resource: green}}
        """,
    good="""
        resources:
          router: {type: OS::Neutron::Router}
          blue:
            type: OS::Neutron::Subnet
            properties: {network: blue, cidr: 10.0.0.0/24}
          green:
            type: OS::Neutron::Subnet
            properties: {network: green, cidr: 10.0.1.0/24}
          blue_interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: {get_resource: blue}}
          green_interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: {get_resource: green}}
        """,
)
def routed_subnets_overlap(view: TemplateView) -> Problems:
    """Yield subnets whose range overlaps with another one at the same router."""
    by_name = {each.resource.name: each for each in subnets(view)}
    for names in subnets_of_routers(view).values():
        joined = [by_name[name] for name in dict.fromkeys(names) if name in by_name]
        for one, other in combinations(joined, 2):
            same = one.network is not None and one.network == other.network
            if not same and _overlapping(one, other):
                message = f'{other.range} overlaps with {one.range} of "{one.resource.name}"'
                yield Problem(message, other.resource.at("cidr"))


@rule(
    Group.CORRECTNESS,
    "A subnet uses public addresses.",
    level=Level.STRICT,
    why="""Servers with these addresses cannot reach the real owners of them on the internet, and
        their own addresses are not routed there.""",
    remedy="Use a private range: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fc00::/7.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 11.0.0.0/24, dns_nameservers: [10.0.0.2]}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.0.0/24}
        """,
)
def public_subnet_range(view: TemplateView) -> Problems:
    """Yield IPv4 ranges that are not private, unless the network is a provider's."""
    if any(view.of_type("OS::Neutron::ProviderNet")):
        return
    shared = network_of("100.64.0.0/10")
    for subnet in subnets(view):
        if subnet.range.version == 4 and not subnet.range.is_private:
            external = shared is not None and overlap(shared, subnet.range)
            network = view.by_name.get(subnet.network or "")
            if not external and not (network and network.has("value_specs")):
                yield Problem(f"{subnet.range} is a public range", subnet.resource.at("cidr"))


@rule(
    Group.CORRECTNESS,
    "The range of a subnet has bits of a host.",
    why="""The address of a host in place of the network's is often a misunderstanding of the
        prefix: 10.0.1.5/16 means the range 10.0.0.0/16.""",
    remedy="Write the first address of the range.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.5/16}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.0.0/16}
        """,
)
def range_with_host_bits(view: TemplateView) -> Problems:
    """Yield ranges whose address is not the first of the network."""
    for resource in view.of_type("OS::Neutron::Subnet"):
        written = view.constant(resource.properties.get("cidr"))
        found = network_of(written)
        if found is not None and address_of(written.partition("/")[0]) != found.network_address:
            yield Problem(f"{written} means the range {found}", resource.at("cidr"))


@rule(
    Group.CORRECTNESS,
    "A subnet has hardly any addresses.",
    why="""The network, the broadcast, the gateway and DHCP need addresses of each subnet, so that
        nothing is left for servers.""",
    remedy="Use a larger range, as /24.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/31}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/28}
        """,
)
def tiny_subnet(view: TemplateView) -> Problems:
    """Yield ranges of IPv4 that are smaller than four addresses."""
    for subnet in subnets(view):
        if subnet.range.version == 4 and subnet.range.prefixlen > _SMALLEST:
            count = subnet.range.num_addresses
            yield Problem(f"the subnet has only {count} addresses", subnet.resource.at("cidr"))


@rule(
    Group.CORRECTNESS,
    "The version of a subnet does not fit to its range.",
    severity=Severity.ERROR,
    why="The network service refuses the subnet.",
    remedy="Set ip_version to that of the range.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: "fd00:1::/64"}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: "fd00:1::/64", ip_version: 6}
        """,
)
def ip_version_mismatch(view: TemplateView) -> Problems:
    """Yield subnets whose ip_version, 4 by default, is not that of the range."""
    for subnet in subnets(view):
        written = view.constant(subnet.resource.properties.get("ip_version"))
        version = 4 if written is None else as_number(written)
        if version is not None and version != subnet.range.version:
            message = f"{subnet.range} is of IPv{subnet.range.version}, not IPv{version}"
            yield Problem(message, subnet.resource.at("cidr"))


@rule(
    Group.CORRECTNESS,
    "The next hop of a route is outside of the subnet.",
    why="Servers can only send to a next hop in their own subnet, so the route has no effect.",
    remedy="Use an address of the subnet's range.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              host_routes:
                - {destination: 10.9.0.0/16, nexthop: 10.0.2.1}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties:
              network: internal
              cidr: 10.0.1.0/24
              host_routes:
                - {destination: 10.9.0.0/16, nexthop: 10.0.1.254}
        """,
)
def unreachable_next_hop(view: TemplateView) -> Problems:
    """Yield host routes whose next hop is not in the subnet."""
    for subnet in subnets(view):
        resource = subnet.resource
        written = resource.properties.get("host_routes")
        for entry, path in view.entries(written, resource.at("host_routes")):
            hop = address_of(entry.get("nexthop")) if isinstance(entry, dict) else None
            if hop is not None and hop.version == subnet.range.version and hop not in subnet.range:
                yield Problem(f"{hop} is not in {subnet.range}", path)


@rule(
    Group.RELIABILITY,
    "A subnet has no DNS servers.",
    level=Level.STRICT,
    why="""Whether servers can resolve names depends on the cloud then: many clouds have no default.
        """,
    remedy="Set dns_nameservers, as from a parameter.",
    bad="""
        resources:
          subnet:  # here
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/24}
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/24, dns_nameservers: [10.0.0.2]}
        """,
)
def subnet_without_dns(view: TemplateView) -> Problems:
    """Yield subnets with DHCP and without DNS servers."""
    for resource in view.of_type("OS::Neutron::Subnet"):
        has_dhcp = str(resource.properties.get("enable_dhcp", True)).lower() not in ("false", "no")
        if has_dhcp and not resource.has("dns_nameservers"):
            yield Problem("the subnet has no DNS servers", resource.path)


@rule(
    Group.CORRECTNESS,
    "A port requests an address outside of its subnet.",
    severity=Severity.ERROR,
    why="The network service refuses the port.",
    remedy="Choose an address of the subnet's range.",
    bad="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/24}
          port:
            type: OS::Neutron::Port
            properties:
              network: internal
              fixed_ips:
                - {subnet: {get_resource: subnet}, ip_address: 10.0.2.10}  # here
        """,
    good="""
        resources:
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: internal, cidr: 10.0.1.0/24}
          port:
            type: OS::Neutron::Port
            properties:
              network: internal
              fixed_ips:
                - {subnet: {get_resource: subnet}, ip_address: 10.0.1.10}
        """,
)
def fixed_ip_outside_subnet(view: TemplateView) -> Problems:
    """Yield addresses of ports that are not in the subnets of the template."""
    ranges = {each.resource.name: each.range for each in subnets(view)}
    for resource in view.of_type("OS::Neutron::Port"):
        written = resource.properties.get("fixed_ips")
        for entry, path in view.entries(written, resource.at("fixed_ips")):
            if not isinstance(entry, dict):
                continue
            address = address_of(view.constant(entry.get("ip_address")))
            name = view.resource_in(entry.get("subnet") or entry.get("subnet_id"))
            range_ = ranges.get(name or "")
            if address is not None and range_ is not None and address not in range_:
                yield Problem(f'{address} is not in {range_} of "{name}"', path)
