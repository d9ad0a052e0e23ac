"""Compares and changes the rules of a security group.

Desired and existing rules are compared by meaning, since Neutron normalizes some values
(``icmpv6``, host bits of a prefix). Only differences are added or removed.

A group may also contain rules of other resources and rules that users added by hand. It compares
and removes only its own rules: those of its previous properties, and those recorded in its data. An
update records rules in the data before it adds them, so that rules of a failed update are known.

Tested by tests/resource_types_openstack/test_security_groups.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from stoker.clouds.faults import CloudError, is_conflict
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SECURITY_GROUP_RULES
from stoker.kernel.values import replace
from stoker.resources.shared.networks.protocols import NUMBERS
from stoker.schema.resource_type import Call, Done, Outcome, Wait

Meaning = tuple[Any, ...]
_SHOWN = (
    "direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix",
    "remote_group_id", "description",
)  # fmt: skip

_ICMP, _ICMP_OF_IPV6 = "1", "58"
OWN_RULES = "rules"  # Key of the data: meanings of the rules that updates added.
_EVERYWHERE = frozenset({"0.0.0.0/0", "::/0"})
_DEFAULTS: tuple[Mapping[str, Any], ...] = (
    {"direction": "egress", "ethertype": "IPv4"},
    {"direction": "egress", "ethertype": "IPv6"},
)


RULE = "security group rule"


def rule_part(rule: Mapping[str, Any]) -> str:
    """Return the shared part of the group for a rule, given as a request body."""
    return f"{RULE} {rule['security_group_id']} {meaning(rule)}"


def bodies(rules: Sequence[Mapping[str, Any]], group_id: str) -> list[Object]:
    """Return the request bodies of the desired rules.

    A group without egress rules keeps the two that every new group has.
    """
    return [_body(rule, group_id) for rule in with_defaults(rules)]


def with_defaults(rules: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rules, with Neutron's default egress rules if none is given."""
    leads_out = any(rule.get("direction") == "egress" for rule in rules)
    return list(rules) if leads_out else [*rules, *_DEFAULTS]


def own_rules(call: Call, existing: Sequence[Object]) -> list[Mapping[str, Any]]:
    """Return the group's own rules as properties, in the form in which they were given."""
    rules, group_id = call.properties.get("rules") or [], call.object_id
    present = {meaning(rule) for rule in existing}
    own = [(meaning(_body(rule, group_id)), rule) for rule in with_defaults(rules)]
    surplus_meanings = own_meanings(call) - {means for means, _ in own}
    surplus = [rule for rule in existing if meaning(rule) in surplus_meanings]
    return [rule for means, rule in own if means in present] + [
        {name: rule[name] for name in _SHOWN if rule.get(name) is not None} for rule in surplus
    ]


def _body(rule: Mapping[str, Any], group_id: str) -> Object:
    body = {
        name: value for name, value in rule.items() if value is not None and name != "remote_mode"
    }
    if rule.get("remote_mode") == "remote_group_id":
        body.setdefault("remote_group_id", group_id)
    return {**body, "security_group_id": group_id}


def meaning(rule: Mapping[str, Any]) -> Meaning:
    """Return a key that is equal for rules which Neutron considers duplicates."""
    protocol = rule.get("protocol")
    name = "" if protocol in (None, "", "any", 0, "0") else str(protocol).lower()
    number = str(NUMBERS.get(name, name))
    if number == _ICMP and rule.get("ethertype") == "IPv6":
        number = _ICMP_OF_IPV6
    prefix = rule.get("remote_ip_prefix")
    network = str(ip_network(prefix, strict=False)) if prefix else None
    return (
        rule.get("direction"),
        rule.get("ethertype") or "IPv4",
        number,
        rule.get("port_range_min"),
        rule.get("port_range_max"),
        None if network in _EVERYWHERE else network,
        rule.get("remote_group_id"),
    )


def own_meanings(call: Call, before: Sequence[Object] = ()) -> set[Meaning]:
    """Return the meanings of the group's own rules.

    ``before`` are the rules of its properties before an update.
    """
    recorded = [tuple(entry) for entry in call.data.get(OWN_RULES) or ()]
    return {*recorded, *map(meaning, before)}


def rules_to_record(call: Call, desired: Sequence[Object], before: Sequence[Object]) -> Wait | None:
    """Return an outcome that records the rules to add; None if all are recorded."""
    own = own_meanings(call, before)
    added = {meaning(body) for body in desired} - own
    if not added:
        return None
    return Wait(after=0.0, data={**call.data, OWN_RULES: _listed(own | added)})


def applied(call: Call, outcome: Outcome, desired: Sequence[Object]) -> Outcome:
    """Return the outcome of an update, with the remaining rules in its data."""
    if not isinstance(outcome, Done) or OWN_RULES not in call.data:
        return outcome
    meanings = {meaning(body) for body in desired}
    return replace(outcome, data={**call.data, OWN_RULES: _listed(meanings)})


def _listed(meanings: Iterable[Meaning]) -> list[list[Any]]:
    return sorted((list(each) for each in meanings), key=str)


def bring_to(call: Call, desired: Sequence[Object], before: Sequence[Object]) -> None:
    """Add missing rules, then remove the group's own rules that are not wanted. Safe to repeat.

    ``before`` are the rules of the previous properties. Rules that are also resources of the stack
    stay.
    """
    existing = SECURITY_GROUP_RULES.select(call.cloud, security_group_id=call.object_id)
    present = {meaning(rule) for rule in existing}
    for body in desired:
        if meaning(body) not in present:
            add(call.cloud, body)
            present.add(meaning(body))
    outdated = own_meanings(call, before) - {meaning(body) for body in desired}
    for rule in existing:
        if meaning(rule) in outdated and rule_part(rule) not in call.shared:
            SECURITY_GROUP_RULES.delete(call.cloud, rule["id"])


def add(cloud: Any, body: Mapping[str, Any]) -> None:
    """Add one rule; a duplicate is fine."""
    try:
        SECURITY_GROUP_RULES.create(cloud, body)
    except CloudError as fault:
        if not is_conflict(fault) or "quota" in fault.message.lower():
            raise
