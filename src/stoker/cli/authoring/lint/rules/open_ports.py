"""Rules about ports that are open to every address."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.security_rules import SecurityRule, security_rules
from stoker.cli.authoring.lint.views import TemplateView

_MANY_PORTS = 100


def _open(view: TemplateView, ports: Sequence[int], service: str) -> Problems:
    """Yield one problem for each security rule that opens one of the ports to every address."""
    for found in security_rules(view):
        port = next((each for each in ports if found.admits(each)), None)
        if port is not None:
            message = f"every address can reach port {port} ({service})"
            yield Problem(message, _prefix_path(found), suggestion="restrict remote_ip_prefix")


def _prefix_path(found: SecurityRule) -> tuple[str | int, ...]:
    """Return the path of a rule's network, or of the rule without one."""
    key = next((key for key in ("remote_ip_prefix", "CidrIp") if key in found.written), None)
    if key is None:
        return found.path
    is_own = found.resource.type == "OS::Neutron::SecurityGroupRule"
    return found.resource.at(key) if is_own else (*found.path, key)


@rule(
    Group.SECURITY,
    "A port for administration is open to every address.",
    why="""SSH, RDP and VNC are scanned all the time. A weak password or a new flaw of the server is
        enough for a break-in.""",
    remedy="""Set remote_ip_prefix to the network of the administrators, or admit only the security
        group of a jump host.""",
    bad="""
        resources:
          access:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 22
                  port_range_max: 22
                  remote_ip_prefix: 0.0.0.0/0  # here
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              security_groups: [{get_resource: access}]
        """,
    good="""
        resources:
          access:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 22
                  port_range_max: 22
                  remote_ip_prefix: 192.0.2.0/24
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              security_groups: [{get_resource: access}]
        """,
)
def open_admin_port(
    view: TemplateView, *, ports: Sequence[int] = (22, 3389, 5900, 5985, 5986)
) -> Problems:
    """Yield rules that open a port of SSH, RDP, VNC or WinRM."""
    return _open(view, ports, "administration")


@rule(
    Group.SECURITY,
    "A port of a database is open to every address.",
    why="""Databases and caches are made for trusted networks. Many have no encryption, and some no
        password, in their default configuration.""",
    remedy="Admit only the security group of the application, with remote_group_id.",
    bad="""
        resources:
          open_database:
            type: OS::Neutron::SecurityGroupRule
            properties:
              security_group: {get_resource: database}
              port_range_min: 5432
              port_range_max: 5432
              remote_ip_prefix: 0.0.0.0/0  # here
          database:
            type: OS::Neutron::SecurityGroup
        """,
    good="""
        resources:
          admit_application:
            type: OS::Neutron::SecurityGroupRule
            properties:
              security_group: {get_resource: database}
              port_range_min: 5432
              port_range_max: 5432
              remote_group: {get_resource: application}
          database:
            type: OS::Neutron::SecurityGroup
          application:
            type: OS::Neutron::SecurityGroup
        """,
)
def open_database_port(
    view: TemplateView,
    *,
    ports: Sequence[int] = (
        1433,
        1521,
        3306,
        5432,
        5984,
        6379,
        7000,
        8086,
        9042,
        9200,
        11211,
        27017,
    ),
) -> Problems:
    """Yield rules that open a port of a database, cache or search engine."""
    return _open(view, ports, "database")


@rule(
    Group.SECURITY,
    "A port that controls other systems is open to every address.",
    why="""The APIs of Docker, kubelet, etcd, message queues and directories can give full control
        of their hosts, often without a password.""",
    remedy="Admit only the network of the controlling systems.",
    bad="""
        resources:
          workers:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 2375, port_range_max: 2375}  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: workers}]}
        """,
    good="""
        resources:
          workers:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 2375
                  port_range_max: 2375
                  remote_ip_prefix: 10.0.0.0/24
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: workers}]}
        """,
)
def open_control_port(
    view: TemplateView,
    *,
    ports: Sequence[int] = (389, 623, 2049, 2375, 2379, 2380, 5672, 10250, 15672),
) -> Problems:
    """Yield rules that open a port of an API for control."""
    return _open(view, ports, "control")


@rule(
    Group.SECURITY,
    "A port of a protocol without encryption is open to every address.",
    why="Telnet, FTP, rsh and SMB send passwords and data that others can read or change.",
    remedy="Use SSH, SFTP or HTTPS, and close the port.",
    bad="""
        resources:
          files:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 20
                  port_range_max: 21
                  remote_ip_prefix: 0.0.0.0/0  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: files}]}
        """,
    good="""
        resources:
          files:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 443
                  port_range_max: 443
                  remote_ip_prefix: 0.0.0.0/0
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: files}]}
        """,
)
def open_cleartext_port(
    view: TemplateView, *, ports: Sequence[int] = (21, 23, 69, 135, 139, 445, 512, 513, 514)
) -> Problems:
    """Yield rules that open a port of a protocol without encryption."""
    return _open(view, ports, "without encryption")


@rule(
    Group.SECURITY,
    "All ports of a protocol are open to every address.",
    why="Every service that ever listens is on the internet, also those that were forgotten.",
    remedy="Open the ports that users need, and only these.",
    bad="""
        resources:
          everything:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 1, port_range_max: 65535}  # here
                - {protocol: udp, remote_ip_prefix: 0.0.0.0/0}  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: everything}]}
        """,
    good="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 443, port_range_max: 443}
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
def open_all_ports(view: TemplateView) -> Problems:
    """Yield rules that open nearly all ports of a protocol."""
    for found in security_rules(view):
        if found.is_ingress and found.is_from_anywhere and found.has_all_ports:
            message = f"every address can reach all ports of {found.protocol}"
            yield Problem(message, _prefix_path(found), suggestion="name the ports that users need")


@rule(
    Group.SECURITY,
    "All protocols are open to every address.",
    why="A security group that admits everything protects nothing.",
    remedy="Name the protocol and the ports, or restrict the rule to a network or a group.",
    bad="""
        resources:
          everything:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - remote_ip_prefix: 0.0.0.0/0  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: everything}]}
        """,
    good="""
        resources:
          members:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - remote_mode: remote_group_id
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: members}]}
        """,
)
def open_all_protocols(view: TemplateView) -> Problems:
    """Yield rules that admit everything from everywhere."""
    for found in security_rules(view):
        if found.is_ingress and found.is_from_anywhere and found.protocol is None:
            yield Problem("every address can reach everything", _prefix_path(found))


@rule(
    Group.SECURITY,
    "A rule of a security group admits every address because it names none.",
    level=Level.STRICT,
    why="""Without remote_ip_prefix or a group, a rule admits every address. Readers cannot see
        whether that was intended.""",
    remedy="Write remote_ip_prefix, with 0.0.0.0/0 where every address is meant.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 443, port_range_max: 443}  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
    good="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 443
                  port_range_max: 443
                  remote_ip_prefix: 0.0.0.0/0
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
def implicit_anywhere(view: TemplateView) -> Problems:
    """Yield ingress rules without a source."""
    for found in security_rules(view):
        if found.is_ingress and found.prefix is None and not found.has_group:
            message = "the rule names no source, and so admits every address"
            yield Problem(message, found.path, suggestion="write remote_ip_prefix")


@rule(
    Group.SECURITY,
    "A wide range of ports is open to every address.",
    level=Level.STRICT,
    why="A range of more than a hundred ports usually has services that nobody meant to publish.",
    remedy="Open single ports, or a range that a protocol such as passive FTP requires.",
    bad="""
        resources:
          range:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 30000
                  port_range_max: 31999
                  remote_ip_prefix: 0.0.0.0/0  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: range}]}
        """,
    good="""
        resources:
          range:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp
                  port_range_min: 30000
                  port_range_max: 30010
                  remote_ip_prefix: 0.0.0.0/0
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: range}]}
        """,
)
def wide_port_range(view: TemplateView, *, ports: int = _MANY_PORTS) -> Problems:
    """Yield rules that open more than some number of ports."""
    for found in security_rules(view):
        span = found.ports
        if not (found.is_ingress and found.is_from_anywhere) or span is None:
            continue
        if span[1] - span[0] >= ports and not found.has_all_ports:
            message = f"every address can reach {span[1] - span[0] + 1} ports"
            yield Problem(message, _prefix_path(found))


@rule(
    Group.SECURITY,
    "Servers may connect to every address and port.",
    level=Level.STRICT,
    why="""A compromised server can load tools and send data to any place. Egress rules that admit
        everything also replace the narrower ones that a group has.""",
    remedy="Admit egress to the networks and ports that the servers need.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {direction: egress, remote_ip_prefix: 0.0.0.0/0}  # here
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
    good="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - direction: egress
                  protocol: tcp
                  port_range_min: 443
                  port_range_max: 443
                  remote_ip_prefix: 0.0.0.0/0
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
def open_egress(view: TemplateView) -> Problems:
    """Yield egress rules that admit everything."""
    for found in security_rules(view):
        if found.is_ingress or not found.is_from_anywhere:
            continue
        if found.protocol is None or found.has_all_ports:
            yield Problem("the rule admits egress to every address", _prefix_path(found))
