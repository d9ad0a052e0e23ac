"""Rules about the protection of ports, servers and networks."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.cli.authoring.lint.networks import (
    address_of,
    network_of,
)
from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import TemplateView

_SERVER = "OS::Nova::Server"


@rule(
    Group.SECURITY,
    "A port may use every address.",
    why="""With an allowed address pair of 0.0.0.0/0 a server can send packets in the name of any
        other one.""",
    remedy="Name the addresses that the server needs, as that of a virtual IP.",
    bad="""
        resources:
          port:
            type: OS::Neutron::Port
            properties:
              network: internal
              allowed_address_pairs:
                - {ip_address: 0.0.0.0/0}  # here
        """,
    good="""
        resources:
          port:
            type: OS::Neutron::Port
            properties:
              network: internal
              allowed_address_pairs:
                - {ip_address: 10.0.0.100}
        """,
)
def any_allowed_address(view: TemplateView) -> Problems:
    """Yield address pairs that are a whole version of addresses."""
    for port in view.of_type("OS::Neutron::Port"):
        key = "allowed_address_pairs"
        for entry, path in view.entries(port.properties.get(key), port.at(key)):
            range_ = network_of(entry.get("ip_address")) if isinstance(entry, dict) else None
            if range_ is not None and range_.prefixlen == 0:
                yield Problem("the port may use every address", path)


@rule(
    Group.SECURITY,
    "The port security of a port or network is off.",
    level=Level.STRICT,
    why="No security group applies, and servers can use any address.",
    remedy="Leave it on, and use allowed_address_pairs for additional addresses.",
    bad="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal, port_security_enabled: false}  # here
        """,
    good="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal, allowed_address_pairs: [{ip_address: 10.0.0.100}]}
        """,
)
def port_security_off(view: TemplateView) -> Problems:
    """Yield ports and networks without port security."""
    for resource in view.of_type("OS::Neutron::Port", "OS::Neutron::Net"):
        if str(view.constant(resource.properties.get("port_security_enabled"))).lower() == "false":
            yield Problem("port security is off", resource.at("port_security_enabled"))


@rule(
    Group.SECURITY,
    "A network is shared with all projects.",
    level=Level.STRICT,
    why="Every project of the cloud can connect servers to it.",
    remedy="Share it with single projects, by OS::Neutron::RBACPolicy.",
    bad="""
        resources:
          network:
            type: OS::Neutron::Net
            properties: {shared: true}  # here
        """,
    good="""
        parameters:
          partner: {type: string, description: Project that uses the network}
        resources:
          network: {type: OS::Neutron::Net}
          access:
            type: OS::Neutron::RBACPolicy
            properties:
              action: access_as_shared
              object_type: network
              object_id: {get_resource: network}
              target_tenant: {get_param: partner}
        """,
)
def shared_network(view: TemplateView) -> Problems:
    """Yield networks that are shared."""
    for resource in view.of_type("OS::Neutron::Net", "OS::Neutron::ProviderNet"):
        if str(view.constant(resource.properties.get("shared"))).lower() == "true":
            yield Problem("the network is shared with all projects", resource.at("shared"))


@rule(
    Group.SECURITY,
    "Servers or ports have no security group.",
    level=Level.STRICT,
    why="They get the default group of the project, which others may open without regard to them.",
    remedy="Set security_groups.",
    bad="""
        resources:
          port:  # here
            type: OS::Neutron::Port
            properties: {network: internal}
        """,
    good="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [web]}
        """,
)
def no_security_group(view: TemplateView) -> Problems:
    """Yield ports, and servers that make their ports, without security groups."""
    for port in view.of_type("OS::Neutron::Port"):
        is_off = view.constant(port.properties.get("port_security_enabled")) is False
        if "security_groups" not in port.properties and not is_off:
            yield Problem("the port has no security group", port.path)
    for server in view.of_type(_SERVER):
        if "security_groups" in server.properties:
            continue
        networks = view.entries(server.properties.get("networks"), ())
        if any(isinstance(each, dict) and "port" not in each for each, _ in networks):
            yield Problem("the server has no security group", server.path)


@rule(
    Group.CORRECTNESS,
    "The security groups of a server have no effect.",
    why="""All its networks are ports, which have their own groups: the compute service ignores
        those of the server.""",
    remedy="Move security_groups to the ports.",
    bad="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal}
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{port: {get_resource: port}}]
              security_groups: [web]  # here
        """,
    good="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [web]}
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{port: {get_resource: port}}]
        """,
)
def ignored_security_groups(view: TemplateView) -> Problems:
    """Yield servers with security groups whose networks are all ports."""
    for server in view.of_type(_SERVER):
        written = server.properties.get("networks")
        if (
            not isinstance(written, list)
            or not written
            or not server.properties.get("security_groups")
        ):
            continue
        if all(isinstance(each, dict) and "port" in each for each in written):
            message = "the groups have no effect: all networks of the server are ports"
            yield Problem(message, server.at("security_groups"))


@rule(
    Group.PORTABILITY,
    "An address is written into a property.",
    level=Level.ALL,
    why="The template only works in networks with this address, and only once in each.",
    remedy="Make it a parameter, or refer to the resource that has the address.",
    bad="""
        resources:
          record:
            type: OS::Heat::Value
            properties: {value: 203.0.113.7}  # here
        """,
    good="""
        parameters:
          web_address: {type: string, description: Address of the web server}
        resources:
          record:
            type: OS::Heat::Value
            properties: {value: {get_param: web_address}}
        """,
)
def hard_coded_address(view: TemplateView) -> Problems:
    """Yield texts that are an address of a host, except those of subnets."""
    for text in view.texts:
        address = address_of(text.value)
        owner = view.by_name.get(str(text.path[1]))
        is_of_subnet = owner is not None and owner.type == "OS::Neutron::Subnet"
        if address is None or is_of_subnet or address.is_unspecified or address.is_loopback:
            continue
        if text.path[0] == view.dialect.resources:
            yield Problem(f"the address {address} is fixed", text.path)


@rule(
    Group.SECURITY,
    "A server is on an external network.",
    level=Level.STRICT,
    why="""It has a public address of its own, so that only its security groups are between its
        services and the internet.""",
    remedy="Use an internal network, and a floating IP or load balancer for published services.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              key_name: operators
              security_groups: [web]
              networks:
                - network: public  # here
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              key_name: operators
              security_groups: [web]
              networks:
                - network: internal
        """,
)
def server_on_external_network(
    view: TemplateView, *, names: Sequence[str] = ("public", "external", "ext-net", "internet")
) -> Problems:
    """Yield networks of servers and ports whose name is that of an external one."""
    for server in view.of_type(_SERVER):
        for entry, path in view.entries(server.properties.get("networks"), server.at("networks")):
            network = view.constant(entry.get("network")) if isinstance(entry, dict) else None
            if network in names:
                yield Problem(f'"{network}" is probably an external network', (*path, "network"))
    for port in view.of_type("OS::Neutron::Port"):
        network = view.constant(port.properties.get("network"))
        if network in names:
            message = f'"{network}" is probably an external network'
            yield Problem(message, port.at("network"))
