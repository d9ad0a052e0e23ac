"""OS::Neutron::SecurityGroupRule: one rule of a security group.

A rule has no name and its description may be the user's: a lost create is found by what the rule
means, which no group has twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import SECURITY_GROUP_RULES
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.neutron.protocols import PROTOCOLS
from stoker.resources.neutron.rules import meaning
from stoker.resources.rest import RestResource
from stoker.schema.constraints import AllowedValues, Custom, Range
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class SecurityGroupRule(RestResource):
    """A rule of a security group."""

    type_name = "OS::Neutron::SecurityGroupRule"
    description = "A rule of a security group."
    service = "network"
    unique = True
    support = since("7.0.0")
    collection = SECURITY_GROUP_RULES
    marker = ""
    wire = {"security_group": "security_group_id", "remote_group": "remote_group_id"}

    properties = {
        "description": Property(Type.STRING, "Description of the object."),
        "direction": Property(
            Type.STRING,
            "Direction of the traffic.",
            default="ingress",
            constraints=(AllowedValues(["ingress", "egress"]),),
        ),
        "ethertype": Property(
            Type.STRING,
            "IP version of the traffic.",
            default="IPv4",
            constraints=(AllowedValues(["IPv4", "IPv6"]),),
        ),
        "port_range_max": Property(
            Type.INTEGER,
            "Highest port, or code of an ICMP message.",
            constraints=(Range(min=0, max=65535),),
        ),
        "port_range_min": Property(
            Type.INTEGER,
            "Lowest port, or type of an ICMP message.",
            constraints=(Range(min=0, max=65535),),
        ),
        "protocol": Property(
            Type.STRING,
            "IP protocol, by name or number.",
            default="tcp",
            constraints=(AllowedValues(PROTOCOLS),),
        ),
        "remote_group": Property(
            Type.STRING,
            "Group whose members are on the other side, by name or id.",
            constraints=(Custom("neutron.security_group"),),
            finder=Finder("network", "security_group"),
        ),
        "remote_ip_prefix": Property(
            Type.STRING, "Range of addresses on the other side.", constraints=(Custom("net_cidr"),)
        ),
        "security_group": Property(
            Type.STRING,
            "Security group, by name or id.",
            required=True,
            constraints=(Custom("neutron.security_group"),),
            finder=Finder("network", "security_group"),
        ),
    }
    attributes = {
        "show": Attribute("The object as the service describes it.", type=Type.MAP, cached=False),
    }

    def find(self, call: Call) -> str | None:
        """The rule that a lost create has made."""
        wanted: Object = self.fields(call.properties)
        existing = SECURITY_GROUP_RULES.select(
            call.cloud, security_group_id=wanted["security_group_id"]
        )
        matches = [rule for rule in existing if meaning(rule) == meaning(wanted)]
        return str(matches[0]["id"]) if matches else None

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """A rule has one kind of remote, and its range of ports is one."""
        findings = []
        if properties.get("remote_group") and properties.get("remote_ip_prefix"):
            message = "remote_group and remote_ip_prefix exclude each other"
            findings.append(Diagnostic("invalid-rule", message, ("remote_group",)))
        low, high = properties.get("port_range_min"), properties.get("port_range_max")
        is_range = properties.get("protocol") in ("tcp", "udp", "sctp", "udplite", "dccp")
        if is_range and isinstance(low, int) and isinstance(high, int) and low > high:
            message = "port_range_min is greater than port_range_max"
            findings.append(Diagnostic("invalid-rule", message, ("port_range_min",)))
        return findings
