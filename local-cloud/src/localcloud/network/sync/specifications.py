"""The documents of the network service as the fabric wants them."""

from localcloud.core.store import Document
from localcloud.fabric.interface import Address, FloatingIP, Network, Port, Router, RouterLeg
from localcloud.network.model import ipam
from localcloud.network.model.state import State
from localcloud.network.objects import routers
from localcloud.network.objects.packet_filters import resolve


def network(document: Document) -> Network:
    """Return the segment of a network."""
    return Network(id=document["id"], mtu=document["mtu"])


def addresses(state: State, port: Document) -> tuple[Address, ...]:
    """Return the addresses of a port with the settings of their subnets."""
    found = []
    for fixed in port["fixed_ips"]:
        subnet = state.get("subnet", fixed["subnet_id"])
        routes = ((r["destination"], r["nexthop"]) for r in subnet["host_routes"])
        found.append(
            Address(
                ip=fixed["ip_address"],
                prefix_length=ipam.network(subnet["cidr"]).prefixlen,
                gateway=subnet["gateway_ip"],
                dns=tuple(subnet["dns_nameservers"]),
                routes=tuple(routes),
            )
        )
    return tuple(found)


def port(state: State, document: Document) -> Port:
    """Return the plug of a port, its security groups resolved."""
    rules = None
    if document["port_security_enabled"]:
        found = [
            rule
            for group in document["security_groups"]
            for rule in state.all("security_group_rule").find(security_group_id=group)
        ]
        rules = resolve(
            found,
            state.member_prefixes,
            lambda group: state.get("address_group", group)["addresses"],
        )
    enabled = document["admin_state_up"]
    if enabled:
        enabled = state.get("network", document["network_id"])["admin_state_up"]
    return Port(
        id=document["id"],
        network_id=document["network_id"],
        mac=document["mac_address"],
        addresses=addresses(state, document),
        enabled=enabled,
        rules=rules,
    )


def _leg(state: State, document: Document) -> RouterLeg:
    return RouterLeg(
        port_id=document["id"],
        network_id=document["network_id"],
        mac=document["mac_address"],
        addresses=addresses(state, document),
    )


def router(state: State, document: Document) -> Router:
    """Return a router with its legs."""
    gateway = routers.gateway_port(state, document)
    return Router(
        id=document["id"],
        enabled=document["admin_state_up"],
        legs=tuple(
            _leg(state, port)
            for port in routers.interfaces(state, document["id"])
            if port["admin_state_up"]
        ),
        gateway=None if gateway is None else _leg(state, gateway),
        snat=document["enable_snat"],
        routes=tuple((r["destination"], r["nexthop"]) for r in document["routes"]),
    )


def floating_ip(document: Document) -> FloatingIP:
    """Return the binding of a floating IP that has a port."""
    return FloatingIP(
        id=document["id"],
        address=document["floating_ip_address"],
        port_id=document["port_id"],
        fixed_ip=document["fixed_ip_address"],
        router_id=document["router_id"],
    )
