"""Rules about networks, routers, ports, floating IPs and rules of security groups as a whole."""

from __future__ import annotations

from stoker.cli.authoring.lint.networks import (
    network_named,
    subnets_of_routers,
)
from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import TemplateView
from stoker.template.describe.references import ReferenceKind

_SERVER = "OS::Nova::Server"


@rule(
    Group.CORRECTNESS,
    "Servers or ports are on a network that has no subnet.",
    why="The ports get no addresses. Servers fail to build, as the network has nothing to offer.",
    remedy="Add a subnet of the network.",
    bad="""
        resources:
          network: {type: OS::Neutron::Net}  # here
          server:
            type: OS::Nova::Server
            properties:
              {image: debian, flavor: small, networks: [{network: {get_resource: network}}]}
        """,
    good="""
        resources:
          network: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.0.0/24}
          server:
            type: OS::Nova::Server
            depends_on: subnet
            properties:
              {image: debian, flavor: small, networks: [{network: {get_resource: network}}]}
        """,
)
def network_without_subnet(view: TemplateView) -> Problems:
    """Yield networks that servers use and that have no subnet in the template."""
    known = ("OS::Neutron::Subnet", _SERVER, "OS::Neutron::Port")
    with_subnet = {
        network_named(view, each.properties) for each in view.of_type("OS::Neutron::Subnet")
    }
    for network in view.of_type("OS::Neutron::Net"):
        if {network.name, str(network.properties.get("name"))} & with_subnet:
            continue
        users = [each.path[1] for each in view.resource_references if each.name == network.name]
        types = {view.by_name[str(name)].type for name in users if str(name) in view.by_name}
        # A template or group that gets the network may add the subnet.
        if types and types <= {*known}:
            yield Problem(f'the network "{network.name}" has no subnet', network.path)


@rule(
    Group.CORRECTNESS,
    "A router has no external gateway, though a floating IP needs one.",
    why="A floating IP is only reachable through a router with a gateway in its network.",
    remedy="Set external_gateway_info of the router.",
    bad="""
        resources:
          router: {type: OS::Neutron::Router}  # here
          interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: internal}
          port:
            type: OS::Neutron::Port
            properties: {network: internal}
          address:
            type: OS::Neutron::FloatingIP
            properties: {floating_network: public, port_id: {get_resource: port}}
        """,
    good="""
        resources:
          router:
            type: OS::Neutron::Router
            properties: {external_gateway_info: {network: public}}
          interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: internal}
          port:
            type: OS::Neutron::Port
            properties: {network: internal}
          address:
            type: OS::Neutron::FloatingIP
            properties: {floating_network: public, port_id: {get_resource: port}}
        """,
)
def router_without_gateway(view: TemplateView) -> Problems:
    """Yield the only router of a template with floating IPs if it has no gateway."""
    routers = list(view.of_type("OS::Neutron::Router"))
    addresses = list(view.of_type("OS::Neutron::FloatingIP", "OS::Nova::FloatingIP"))
    gateways = list(view.of_type("OS::Neutron::RouterGateway"))
    if len(routers) == 1 and addresses and not gateways:
        router = routers[0]
        if not router.has("external_gateway_info") and not router.has("value_specs"):
            yield Problem(f'the router "{router.name}" has no external gateway', router.path)


@rule(
    Group.CORRECTNESS,
    "A router has no interface.",
    level=Level.STRICT,
    why="It connects nothing. An interface is easily forgotten, as nothing fails without it.",
    remedy="Add a router interface for each subnet, or remove the router.",
    bad="""
        resources:
          router:  # here
            type: OS::Neutron::Router
            properties: {external_gateway_info: {network: public}}
        """,
    good="""
        resources:
          router:
            type: OS::Neutron::Router
            properties: {external_gateway_info: {network: public}}
          interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: internal}
        """,
)
def router_without_interface(view: TemplateView) -> Problems:
    """Yield routers that nothing refers to."""
    used = view.names_referred(ReferenceKind.RESOURCE, ReferenceKind.ATTRIBUTE)
    for router in view.of_type("OS::Neutron::Router"):
        if router.name not in used and "" not in used:
            yield Problem(f'the router "{router.name}" has no interface', router.path)


@rule(
    Group.CORRECTNESS,
    "A floating IP leads to a subnet that no router is connected to.",
    why="The network service refuses the association: the port is not reachable from outside.",
    remedy="Add a router interface for the subnet.",
    bad="""
        resources:
          network: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.0.0/24}
          router:
            type: OS::Neutron::Router
            properties: {external_gateway_info: {network: public}}
          port:
            type: OS::Neutron::Port
            properties:
              network: {get_resource: network}
              fixed_ips: [{subnet: {get_resource: subnet}}]
          address:
            type: OS::Neutron::FloatingIP
            properties: {floating_network: public, port_id: {get_resource: port}}  # here
        """,
    good="""
        resources:
          network: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.0.0/24}
          router:
            type: OS::Neutron::Router
            properties: {external_gateway_info: {network: public}}
          interface:
            type: OS::Neutron::RouterInterface
            properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}
          port:
            type: OS::Neutron::Port
            properties:
              network: {get_resource: network}
              fixed_ips: [{subnet: {get_resource: subnet}}]
          address:
            type: OS::Neutron::FloatingIP
            properties: {floating_network: public, port_id: {get_resource: port}}
        """,
)
def floating_ip_without_router(view: TemplateView) -> Problems:
    """Yield floating IPs of ports in subnets of the template without an interface."""
    routed = {name for names in subnets_of_routers(view).values() for name in names}
    networks: dict[str, list[str]] = {}
    for subnet in view.of_type("OS::Neutron::Subnet"):
        networks.setdefault(network_named(view, subnet.properties) or "", []).append(subnet.name)
    # An interface by a port, in a nested stack or in a loop, cannot be seen here.
    if any(_is_opaque(view, each.type) for each in view.resources) or view.has_loops:
        return
    for resource in view.of_type("OS::Neutron::FloatingIP"):
        port = view.by_name.get(view.resource_in(resource.properties.get("port_id")) or "")
        if port is None or port.type != "OS::Neutron::Port":
            continue
        own = networks.get(network_named(view, port.properties) or "\0", [])
        if own and not routed & set(own):
            message = f'no router is connected to the network of "{port.name}"'
            yield Problem(message, resource.at("port_id"))


def _is_opaque(view: TemplateView, type_name: str) -> bool:
    interface = next(view.of_type("OS::Neutron::RouterInterface"), None)
    has_port = interface is not None and (interface.has("port") or interface.has("port_id"))
    return has_port or type_name.endswith((".yaml", ".yml")) or type_name.startswith("OS::Heat::R")


@rule(
    Group.RELIABILITY,
    "A server can boot before its network is connected.",
    level=Level.STRICT,
    why="""Nothing makes the server wait for the router interface. Its user data may run before
        there is a way to the internet, and fail at random.""",
    remedy="Let the server or its port depend on the router interface.",
    bad="""
        resources:
          network: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties:
              {network: {get_resource: network}, cidr: 10.0.0.0/24, dns_nameservers: [10.0.0.2]}
          interface:
            type: OS::Neutron::RouterInterface
            properties: {router: main, subnet: {get_resource: subnet}}
          server:  # here
            type: OS::Nova::Server
            depends_on: subnet
            properties:
              image: debian
              flavor: small
              networks: [{network: {get_resource: network}}]
              user_data: |
                #!/bin/sh
                apt-get install -y nginx
        """,
    good="""
        resources:
          network: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties:
              {network: {get_resource: network}, cidr: 10.0.0.0/24, dns_nameservers: [10.0.0.2]}
          interface:
            type: OS::Neutron::RouterInterface
            properties: {router: main, subnet: {get_resource: subnet}}
          server:
            type: OS::Nova::Server
            depends_on: interface
            properties:
              image: debian
              flavor: small
              networks: [{network: {get_resource: network}}]
              user_data: |
                #!/bin/sh
                apt-get install -y nginx
        """,
)
def server_before_router(view: TemplateView) -> Problems:
    """Yield servers with user data that do not depend on an interface of the template."""
    interfaces = {each.name for each in view.of_type("OS::Neutron::RouterInterface")}
    needs: dict[str, set[str]] = {}
    for reference in view.resource_references:
        if reference.path[0] == view.dialect.resources:
            needs.setdefault(str(reference.path[1]), set()).add(reference.name)
    for server in view.of_type(_SERVER):
        if server.is_member or not interfaces or not server.has("user_data"):
            continue
        reached, pending = set[str](), [server.name]
        while pending:
            added = needs.get(pending.pop(), set()) - reached
            reached |= added
            pending += added
        networks = any(
            view.by_name[name].type == "OS::Neutron::Net" for name in reached & view.by_name.keys()
        )
        if networks and not reached & interfaces:
            yield Problem(f'"{server.name}" may boot before its network is connected', server.path)


@rule(
    Group.CORRECTNESS,
    "A server names no network, though the template has networks.",
    why="""The compute service chooses a network of the project, and fails if there are several. It
        is rarely the one of the template.""",
    remedy="Set networks.",
    bad="""
        resources:
          network: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.0.0/24}
          server:  # here
            type: OS::Nova::Server
            properties: {image: debian, flavor: small}
        """,
    good="""
        resources:
          network: {type: OS::Neutron::Net}
          subnet:
            type: OS::Neutron::Subnet
            properties: {network: {get_resource: network}, cidr: 10.0.0.0/24}
          server:
            type: OS::Nova::Server
            depends_on: subnet
            properties:
              {image: debian, flavor: small, networks: [{network: {get_resource: network}}]}
        """,
)
def server_without_network(view: TemplateView) -> Problems:
    """Yield servers without networks in a template with networks."""
    if not any(view.of_type("OS::Neutron::Net")):
        return
    for server in view.of_type(_SERVER):
        if not server.has("networks"):
            yield Problem("the server names none of the networks", server.path)
