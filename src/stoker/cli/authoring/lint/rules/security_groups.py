"""Rules about rules of security groups that contradict each other."""

from __future__ import annotations

import json

from stoker.cli.authoring.lint.networks import (
    network_of,
)
from stoker.cli.authoring.lint.rule import Group, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.security_rules import security_rules
from stoker.cli.authoring.lint.views import TemplateView, is_chosen


@rule(
    Group.CORRECTNESS,
    "A rule of a security group is written twice.",
    severity=Severity.ERROR,
    why="The network service refuses the second one, as a rule that exists already.",
    remedy="Remove one of them, or correct the one that was copied.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 443, port_range_max: 443}
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
                - {protocol: tcp, port_range_min: 443, port_range_max: 443}
                - {protocol: tcp, port_range_min: 80, port_range_max: 80}
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
def duplicate_security_rule(view: TemplateView) -> Problems:
    """Yield rules that are equal to an earlier one of their group."""
    seen: set[tuple[str, str]] = set()
    for found in security_rules(view):
        is_own = found.resource.type == "OS::Neutron::SecurityGroupRule"
        if is_own and ("condition" in found.resource.body or found.resource.has_copies):
            continue
        if is_chosen(found.path):
            continue
        group = str(found.written.get("security_group")) if is_own else found.resource.name
        meant = {key: each for key, each in found.written.items() if key != "description"}
        list_name = "" if is_own else str(found.path[-2])
        key = (group, list_name + json.dumps(meant, sort_keys=True, default=str))
        if key in seen:
            yield Problem("the security group has an equal rule already", found.path)
        seen.add(key)


@rule(
    Group.CORRECTNESS,
    "A rule of a security group has only one end of a range of ports.",
    why="""The network service refuses a rule with one end, or admits a single port where a range
        was meant, depending on its release.""",
    remedy="Give port_range_min and port_range_max, equal for a single port.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {protocol: tcp, port_range_min: 443}  # here
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
                - {protocol: tcp, port_range_min: 443, port_range_max: 443}
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
def half_port_range(view: TemplateView) -> Problems:
    """Yield rules of TCP and UDP with one end of a range."""
    for found in security_rules(view):
        is_half = (found.low is None) != (found.high is None)
        if is_half and found.protocol in ("tcp", "udp") and found.has_known_ports:
            missing = "port_range_min" if found.low is None else "port_range_max"
            yield Problem(f"{missing} is missing", found.path)


@rule(
    Group.CORRECTNESS,
    "A rule of a security group has ports, and no protocol that has ports.",
    severity=Severity.ERROR,
    why="The network service refuses ports without a protocol such as tcp or udp.",
    remedy="Add the protocol, or remove the ports.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - {port_range_min: 443, port_range_max: 443, remote_ip_prefix: 10.0.0.0/8}  # here
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
                  remote_ip_prefix: 10.0.0.0/8
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
def ports_without_protocol(view: TemplateView) -> Problems:
    """Yield rules of every protocol that have ports."""
    for found in security_rules(view):
        if found.protocol is None and any(
            found.written.get(f"port_range_{end}") is not None for end in ("min", "max")
        ):
            yield Problem("ports need a protocol", found.path, suggestion="protocol: tcp")


@rule(
    Group.CORRECTNESS,
    "The version of a rule does not fit to its network.",
    severity=Severity.ERROR,
    why="The network service refuses a network of IPv6 in a rule of IPv4, which is the default.",
    remedy="Write ethertype: IPv6.",
    bad="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
            properties:
              rules:
                - protocol: tcp  # here
                  port_range_min: 443
                  port_range_max: 443
                  remote_ip_prefix: "::/0"
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
                  ethertype: IPv6
                  port_range_min: 443
                  port_range_max: 443
                  remote_ip_prefix: "::/0"
          port:
            type: OS::Neutron::Port
            properties: {network: internal, security_groups: [{get_resource: web}]}
        """,
)
def ethertype_mismatch(view: TemplateView) -> Problems:
    """Yield rules whose network is of another version than their ethertype."""
    for found in security_rules(view):
        if found.resource.type == "AWS::EC2::SecurityGroup":
            continue
        range_ = network_of(found.prefix)
        ethertype = view.constant(found.written.get("ethertype")) or "IPv4"
        if range_ is None or ethertype not in ("IPv4", "IPv6"):
            continue
        if ethertype != f"IPv{range_.version}":
            yield Problem(f"{range_} is not of {ethertype}", found.path)
