"""OS::Neutron::SecurityGroup: a security group with its rules.

If the user chose the name, the group is created with the marker as its description. The user's
description and the rules are set once the id is recorded.

Rules are compared and changed by :mod:`stoker.resources.shared.networks.security_group_rules`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SECURITY_GROUPS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource
from stoker.resources.neutron.declarations import (
    DIRECTION,
    ETHERTYPE,
    PORT_RANGE_MAX,
    PORT_RANGE_MIN,
    REMOTE_IP_PREFIX,
)
from stoker.resources.shared.networks.port_users import ports_with_group
from stoker.resources.shared.networks.protocols import PROTOCOLS
from stoker.resources.shared.networks.security_group_rules import (
    RULE,
    applied,
    bodies,
    bring_to,
    own_rules,
    rule_part,
    rules_to_record,
    with_defaults,
)
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since


def _set_rules(call: Call) -> None:
    bring_to(call, _bodies(call, call.properties), _bodies(call, call.update.previous))


def _bodies(call: Call, properties: Mapping[str, Any]) -> list[Object]:
    return bodies(properties.get("rules") or [], call.object_id)


def _describe(call: Call) -> None:
    description = call.properties.get("description") or ""
    SECURITY_GROUPS.update(call.cloud, call.object_id, {"description": description})


# Protocols whose range consists of ports, not of type and code.
_WITH_PORTS = frozenset({"tcp", "udp", "sctp", "dccp", "udplite"})


class SecurityGroup(RestResource):
    """A security group."""

    type_name = "OS::Neutron::SecurityGroup"
    description = "A security group and its rules."
    service = "network"
    support = since("2014.1")
    shares = frozenset({RULE})
    collection = SECURITY_GROUPS
    quota = "network/security_group"
    users = staticmethod(ports_with_group)
    clear_values = {"stateful": True}
    follow_up_requests = (
        FollowUpRequest("description", _describe),
        FollowUpRequest("rules", _set_rules),
    )

    properties = {
        "description": declare.string("Description of the object.", update_allowed=True),
        "name": declare.NAME,
        "rules": declare.records(
            "Rules of the group.",
            default=[],
            update_allowed=True,
            entries={
                "description": declare.string(
                    "Description of the object.", support=since("27.0.0")
                ),
                "direction": DIRECTION,
                "ethertype": ETHERTYPE,
                "port_range_max": PORT_RANGE_MAX,
                "port_range_min": PORT_RANGE_MIN,
                "protocol": declare.choice(PROTOCOLS, "IP protocol, by name or number."),
                "remote_group_id": declare.checked(
                    "neutron.security_group", "Group whose members are the remote side."
                ),
                "remote_ip_prefix": REMOTE_IP_PREFIX,
                "remote_mode": declare.choice(
                    ["remote_ip_prefix", "remote_group_id"],
                    "Kind of the remote side: a range, or a group (this one if none is given).",
                    default="remote_ip_prefix",
                ),
            },
        ),
        "stateful": declare.boolean(
            "Whether answers to allowed traffic are allowed.",
            update_allowed=True,
            support=since("27.0.0"),
        ),
    }

    def update(self, call: Call) -> Outcome:
        """Record the rules to add, then apply the changes."""
        if "rules" not in call.update.changed:
            return super().update(call)
        desired, before = _bodies(call, call.properties), _bodies(call, call.update.previous)
        return rules_to_record(call, desired, before) or applied(
            call, super().update(call), desired
        )

    def parts(self, call: Call) -> Collection[str]:
        """Return the rules as shared parts."""
        if call.physical_id is None:
            return ()
        return {rule_part(body) for body in _bodies(call, call.properties)}

    def expected(self, call: Call) -> Mapping[str, Any]:
        """Return the properties, with Neutron's default rules."""
        rules = with_defaults(call.properties.get("rules") or [])
        return {**call.properties, "rules": rules}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties; rules are compared by meaning, and only the group's own."""
        existing = found.get("security_group_rules") or []
        return {**super().properties_of(call, found), "rules": own_rules(call, existing)}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the name is not "default", and that each rule has at most one remote."""
        findings = []
        if properties.get("name") == "default":
            message = 'every project has a group "default" already; choose another name'
            findings.append(Diagnostic("reserved-name", message, ("name",)))
        for index, rule in declare.records_in(properties.get("rules")):
            if rule.get("remote_ip_prefix") and rule.get("remote_group_id"):
                message = "remote_ip_prefix and remote_group_id exclude each other"
                path = ("rules", index, "remote_group_id")
                findings.append(Diagnostic("invalid-rule", message, path))
            first, last = rule.get("port_range_min"), rule.get("port_range_max")
            has_ports = rule.get("protocol") in _WITH_PORTS
            if has_ports and isinstance(first, int) and isinstance(last, int) and first > last:
                message = f"port_range_min, {first}, is larger than port_range_max, {last}"
                path = ("rules", index, "port_range_min")
                findings.append(Diagnostic("invalid-rule", message, path))
        return findings
