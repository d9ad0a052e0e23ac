"""OS::Neutron::SecurityGroupRule: one rule of a security group.

Rules have no name, and users may set the description. The meaning of a rule is unique in its group,
so a lost create is found by it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SECURITY_GROUP_RULES
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.neutron.declarations import (
    DIRECTION,
    ETHERTYPE,
    PORT_RANGE_MAX,
    PORT_RANGE_MIN,
    REMOTE_IP_PREFIX,
)
from stoker.resources.shared.making_way import MakesWay
from stoker.resources.shared.networks.protocols import PROTOCOLS
from stoker.resources.shared.networks.security_group_rules import RULE, meaning, rule_part
from stoker.schema.resource_type import VALUES, Call
from stoker.schema.support import since

_MEANT = (
    "direction", "ethertype", "port_range_max", "port_range_min", "protocol", "remote_group",
    "remote_ip_prefix",
)  # fmt: skip


class SecurityGroupRule(MakesWay, RestResource):
    """A rule of a security group."""

    type_name = "OS::Neutron::SecurityGroupRule"
    uses_early = frozenset({VALUES})
    description = "A rule of a security group."
    service = "network"
    unique = True
    shares = frozenset({RULE})
    support = since("7.0.0")
    collection = SECURITY_GROUP_RULES
    marker_field = ""
    field_names = {"security_group": "security_group_id", "remote_group": "remote_group_id"}

    properties = {
        "description": declare.string("Description of the object."),
        "direction": DIRECTION,
        "ethertype": ETHERTYPE,
        "port_range_max": PORT_RANGE_MAX,
        "port_range_min": PORT_RANGE_MIN,
        "protocol": declare.choice(PROTOCOLS, "IP protocol, by name or number.", default="tcp"),
        "remote_group": declare.by_name(
            "neutron.security_group", "Group whose members are the remote side"
        ),
        "remote_ip_prefix": REMOTE_IP_PREFIX,
        "security_group": declare.by_name(
            "neutron.security_group", "Security group", required=True
        ),
    }

    def find(self, call: Call) -> str | None:
        """Return the rule with the same meaning in the group."""
        desired: Object = self.fields(call.properties)
        existing = SECURITY_GROUP_RULES.select(
            call.cloud, security_group_id=desired["security_group_id"]
        )
        matches = [rule for rule in existing if meaning(rule) == meaning(desired)]
        return str(matches[0]["id"]) if matches else None

    def parts(self, call: Call) -> Collection[str]:
        """Return the rule as shared part. The properties of its group may contain it, too."""
        return {rule_part(self.fields(call.properties))}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the rule, in the given form if they mean the same."""
        own = super().properties_of(call, found)
        if meaning(found) != meaning(self.fields(call.properties)):
            return own
        return {**own, **{name: call.properties.get(name) for name in _MEANT}}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that there is at most one remote, and that the ports are in order."""
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
