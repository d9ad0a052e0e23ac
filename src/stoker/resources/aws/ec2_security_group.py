"""AWS::EC2::SecurityGroup: a security group with its rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SECURITY_GROUPS
from stoker.clouds.objects.security_groups import group_ids
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource, rename_fields
from stoker.resources.shared.networks.security_group_rules import (
    RULE,
    applied,
    bodies,
    bring_to,
    meaning,
    own_meanings,
    rule_part,
    rules_to_record,
)
from stoker.schema.resource_type import Call, Outcome

_RULE = {
    "CidrIp": declare.string("Remote addresses in CIDR notation."),
    "FromPort": declare.string("Lowest port, or type of an ICMP message."),
    "IpProtocol": declare.string("IP protocol, by name or number; -1 for any."),
    "SourceSecurityGroupId": declare.string("Id of the remote group."),
    "SourceSecurityGroupName": declare.string("Name of the remote group."),
    "SourceSecurityGroupOwnerId": declare.string("Not available.", implemented=False),
    "ToPort": declare.string("Highest port, or code of an ICMP message."),
}
_DIRECTIONS = {"SecurityGroupIngress": "ingress", "SecurityGroupEgress": "egress"}
_ANY = "-1"


def _in_network_words(call: Call, rule: Mapping[str, Any], direction: str) -> Object:
    """Return the rule in Neutron's format."""
    protocol = rule.get("IpProtocol")
    group = rule.get("SourceSecurityGroupId") or rule.get("SourceSecurityGroupName")
    prefix = rule.get("CidrIp")
    ports = {}
    if protocol is not None and str(protocol) != _ANY:
        named = {"port_range_min": rule.get("FromPort"), "port_range_max": rule.get("ToPort")}
        ports = {k: int(v) for k, v in named.items() if v is not None and str(v) != _ANY}
    return rename_fields(
        {
            "direction": direction,
            "ethertype": "IPv6" if prefix and ":" in prefix else "IPv4",
            "protocol": None if str(protocol) == _ANY else protocol,
            "remote_ip_prefix": prefix,
            "remote_group_id": group_ids(call.cloud, [group])[0] if group else None,
            **ports,
        }
    )


def _set_rules(call: Call) -> None:
    bring_to(call, _bodies(call, call.properties), _bodies(call, call.update.previous))


def _bodies(call: Call, properties: Mapping[str, Any]) -> list[Object]:
    rules = [
        _in_network_words(call, rule, direction)
        for name, direction in _DIRECTIONS.items()
        for rule in properties.get(name) or ()
    ]
    return bodies(rules, call.object_id)


class SecurityGroup(RestResource):
    """A security group and its rules."""

    type_name = "AWS::EC2::SecurityGroup"
    description = "A security group and its rules."
    service = "network"
    shares = frozenset({RULE})
    collection = SECURITY_GROUPS
    has_name = True
    marker_field = ""
    field_names = {"GroupDescription": "description"}
    follow_up_requests = (
        FollowUpRequest("SecurityGroupIngress", _set_rules),
        FollowUpRequest("SecurityGroupEgress", _set_rules),
    )

    properties = {
        "GroupDescription": declare.string("Description of the group.", required=True),
        "SecurityGroupEgress": declare.records(
            "Outgoing traffic that is allowed. Everything if nothing is given.",
            update_allowed=True,
            entries=_RULE,
        ),
        "SecurityGroupIngress": declare.records(
            "Incoming traffic that is allowed.", update_allowed=True, entries=_RULE
        ),
        "VpcId": declare.string("Id of the virtual private cloud."),
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the description."""
        return rename_fields({"description": properties.get("GroupDescription")})

    def update(self, call: Call) -> Outcome:
        """Record the rules to add, then apply the changes."""
        if call.update.changed.isdisjoint(_DIRECTIONS):
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

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties; rules have the given form if they mean the same."""
        existing = found.get("security_group_rules") or []
        observed: dict[str, Any] = {"GroupDescription": found.get("description")}
        for name, direction in _DIRECTIONS.items():
            specified = call.properties.get(name) or []
            desired = {
                meaning(_in_network_words(call, each, direction)): each for each in specified
            }
            present = [meaning(rule) for rule in existing if rule["direction"] == direction]
            own = own_meanings(call)
            surplus = [each for each in present if each in own and each not in desired]
            remaining = [each for means, each in desired.items() if means in present]
            observed[name] = [*remaining, *({"IpProtocol": each[2]} for each in surplus)] or None
        return observed
