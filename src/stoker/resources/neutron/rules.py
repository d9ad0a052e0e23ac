"""Rules of a security group: how desired and existing ones are compared.

The service normalizes some values (``icmpv6``, host bits of a
prefix), so rules are compared by meaning, and only differences are added or removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import SECURITY_GROUP_RULES
from stoker.clouds.faults import CloudFault, is_conflict
from stoker.resources.neutron.protocols import NUMBERS

Meaning = tuple[Any, ...]
_SHOWN = (
    "direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix",
    "remote_group_id", "description",
)  # fmt: skip

_EVERYWHERE = frozenset({"0.0.0.0/0", "::/0"})
_DEFAULTS: tuple[Mapping[str, Any], ...] = (
    {"direction": "egress", "ethertype": "IPv4"},
    {"direction": "egress", "ethertype": "IPv6"},
)


def bodies(rules: Sequence[Mapping[str, Any]], group_id: str) -> list[Object]:
    """The wanted rules as the service takes them.

    A group without egress rules of its own keeps those that every new group has.
    """
    return [_body(rule, group_id) for rule in with_defaults(rules)]


def with_defaults(rules: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rules that a group has which was given these."""
    leads_out = any(rule.get("direction") == "egress" for rule in rules)
    return list(rules) if leads_out else [*rules, *_DEFAULTS]


def told(
    rules: Sequence[Mapping[str, Any]], existing: Sequence[Object], group_id: str
) -> list[Mapping[str, Any]]:
    """Existing rules as properties: as they were given where they mean the same."""
    present = {meaning(rule) for rule in existing}
    given = [(meaning(_body(rule, group_id)), rule) for rule in with_defaults(rules)]
    known = {means for means, _ in given}
    surplus = [rule for rule in existing if meaning(rule) not in known]
    return [rule for means, rule in given if means in present] + [
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
    """The meaning of a rule: equal for rules that the service considers duplicates."""
    protocol = rule.get("protocol")
    name = "" if protocol in (None, "", "any", 0, "0") else str(protocol).lower()
    prefix = rule.get("remote_ip_prefix")
    network = str(ip_network(prefix, strict=False)) if prefix else None
    return (
        rule.get("direction"),
        rule.get("ethertype") or "IPv4",
        str(NUMBERS.get(name, name)),
        rule.get("port_range_min"),
        rule.get("port_range_max"),
        None if network in _EVERYWHERE else network,
        rule.get("remote_group_id"),
    )


def bring_to(cloud: Any, group_id: str, rules: Sequence[Mapping[str, Any]]) -> None:
    """Add the rules that are missing, then remove those that are not wanted. Safe to repeat."""
    wanted = bodies(rules, group_id)
    existing = SECURITY_GROUP_RULES.select(cloud, security_group_id=group_id)
    present = {meaning(rule) for rule in existing}
    for body in wanted:
        if meaning(body) not in present:
            add(cloud, body)
            present.add(meaning(body))
    kept = {meaning(body) for body in wanted}
    for rule in existing:
        if meaning(rule) not in kept:
            SECURITY_GROUP_RULES.delete(cloud, rule["id"])


def add(cloud: Any, body: Mapping[str, Any]) -> None:
    """Add one rule; a duplicate is fine."""
    try:
        SECURITY_GROUP_RULES.create(cloud, body)
    except CloudFault as fault:
        if not is_conflict(fault) or "quota" in fault.message.lower():
            raise
