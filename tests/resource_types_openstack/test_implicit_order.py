from __future__ import annotations

from typing import Any

from stoker.resources.neutron.extra_route_set import ExtraRouteSet
from stoker.resources.neutron.floating_ip import FloatingIP
from stoker.resources.neutron.floating_ip_association import FloatingIPAssociation
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.router import Router
from stoker.resources.neutron.router_gateway import RouterGateway
from stoker.resources.nova.server.server import Server
from stoker.schema.resource_type.neighbours import Neighbours
from stoker.schema.unknown import Unknown


def to_come(name: str) -> Unknown:
    return Unknown(frozenset({name}))


OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "net": ("OS::Neutron::Net", {}),
    "sub": ("OS::Neutron::Subnet", {"network": to_come("net")}),
    "far": ("OS::Neutron::Subnet", {"network": to_come("other")}),
    "ext": ("OS::Neutron::Subnet", {"network": "public"}),
    "port": ("OS::Neutron::Port", {"network": to_come("net")}),
    "leg": ("OS::Neutron::RouterInterface", {"subnet": to_come("sub"), "router": to_come("r")}),
    "farleg": ("OS::Neutron::RouterInterface", {"subnet": to_come("far"), "router": to_come("r")}),
    "r": ("OS::Neutron::Router", {"external_gateway_info": {"network": "public"}}),
}


def test_port_waits_for_subnets_of_its_network() -> None:
    assert Port().implicit_dependencies({"network": to_come("net")}, OTHERS) == {"sub"}
    assert Port().implicit_dependencies({"network": "public"}, OTHERS) == {"ext"}
    assert Port().implicit_dependencies({"network": "elsewhere"}, OTHERS) == frozenset()


def test_server_waits_for_subnets_of_its_networks() -> None:
    networks = [{"network": to_come("net")}, {"port": to_come("port")}]
    assert Server().implicit_dependencies({"networks": networks}, OTHERS) == {"sub"}
    assert Server().implicit_dependencies({"networks": to_come("net")}, OTHERS) == frozenset()


def test_router_waits_for_subnets_of_external_network() -> None:
    gateway = {"external_gateway_info": {"network": "public"}}
    assert Router().implicit_dependencies(gateway, OTHERS) == {"ext"}
    assert Router().implicit_dependencies({}, OTHERS) == frozenset()


def test_floating_ip_waits_for_route_to_its_port() -> None:
    given = {"floating_network": "public", "port_id": to_come("port")}
    assert FloatingIP().implicit_dependencies(given, OTHERS) == {"ext", "r", "leg"}


def test_floating_ip_waits_for_gateway_resources() -> None:
    gate = ("OS::Neutron::RouterGateway", {"router_id": to_come("r"), "network_id": "public"})
    others = {**OTHERS, "r": ("OS::Neutron::Router", {}), "gate": gate}
    given = {"floating_network_id": "public"}
    assert FloatingIP().implicit_dependencies(given, others) == {"ext", "gate"}
    assert RouterGateway().implicit_dependencies(gate[1], others) == {"ext", "leg", "farleg"}


def test_association_waits_for_router_interface_of_port() -> None:
    given = {"port_id": to_come("port"), "floatingip_id": "f"}
    assert FloatingIPAssociation().implicit_dependencies(given, OTHERS) == {"leg"}


def test_port_with_fixed_addresses_counts_their_subnets_only() -> None:
    fixed = {"network": to_come("net"), "fixed_ips": [{"subnet": to_come("far")}]}
    others = {**OTHERS, "port": ("OS::Neutron::Port", fixed)}
    given = {"port_id": to_come("port")}
    assert FloatingIPAssociation().implicit_dependencies(given, others) == {"farleg"}


def test_extra_routes_wait_for_interfaces_of_router() -> None:
    given = {"router": to_come("r"), "routes": []}
    assert ExtraRouteSet().implicit_dependencies(given, OTHERS) == {"leg", "farleg", "r"}


def test_an_index_of_all_resources_answers_alike() -> None:
    everything = Neighbours(OTHERS)
    given = {"floating_network": "public", "port_id": to_come("port")}
    assert FloatingIP().implicit_dependencies(given, everything) == {"ext", "r", "leg"}
    assert Port().implicit_dependencies({"network": to_come("net")}, everything) == {"sub"}
    assert Port().implicit_dependencies({"network": to_come("nothing")}, everything) == frozenset()
