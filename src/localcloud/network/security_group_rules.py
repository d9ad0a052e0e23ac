"""The rules of security groups, and everything that a rule must not be."""

from ipaddress import ip_network
from typing import Any

from localcloud.http import RequestContext
from localcloud.network import quotas
from localcloud.network.errors import bad_request, conflict
from localcloud.network.filtering import PROTOCOLS, protocol_number
from localcloud.network.security_groups import KIND as GROUP
from localcloud.network.security_groups import affect, rule_document
from localcloud.network.state import State
from localcloud.network.visibility import find, require_owner
from localcloud.store import Document

KIND = "security_group_rule"

_WITH_PORTS = frozenset({6, 17, 33, 132, 136})
_ICMP = frozenset({1, 58})
_IDENTITY = (
    "direction",
    "ethertype",
    "protocol",
    "port_range_min",
    "port_range_max",
    "remote_ip_prefix",
    "remote_group_id",
    "remote_address_group_id",
)


def _ethertype(value: Any) -> str:
    for known in ("IPv4", "IPv6"):
        if str(value or "IPv4").lower() == known.lower():
            return known
    raise bad_request(
        f"'{value}' is not an ethertype; IPv4 and IPv6 are.", "SecurityGroupRuleInvalidEtherType"
    )


def _protocol(value: Any, ethertype: str) -> str | None:
    if value is None or str(value).lower() in ("any", "-1", ""):
        return None
    name = str(value).lower()
    number = PROTOCOLS.get(name)
    if number is None:
        if not name.isdecimal() or int(name) > 255:
            raise bad_request(
                f"'{value}' is neither the name of a protocol nor a number from 0 to 255.",
                "SecurityGroupRuleInvalidProtocol",
            )
        name = str(int(name))
    if ethertype == "IPv6" and name in ("icmp", "icmpv6"):
        return "ipv6-icmp"
    if ethertype == "IPv4" and (name.startswith("ipv6-") or name == "icmpv6"):
        raise bad_request(
            f"The protocol {name} does not go with the ethertype IPv4.",
            "SecurityGroupEthertypeConflictWithProtocol",
        )
    return name


def _port(value: Any) -> int | None:
    if value is None or value == "":
        return None
    text = str(value)
    if isinstance(value, bool) or not text.removeprefix("-").isdecimal():
        raise bad_request(f"'{value}' is not a port number.", "SecurityGroupInvalidPortValue")
    number = int(text)
    if not -1 <= number <= 65535:
        raise bad_request(f"'{value}' is not a port number.", "SecurityGroupInvalidPortValue")
    return None if number == -1 else number


def _check_ports(rule: Document) -> None:
    low, high = rule["port_range_min"], rule["port_range_max"]
    if low is None and high is None:
        return
    number = protocol_number(rule["protocol"])
    if number is None:
        raise bad_request(
            "A port range needs a protocol.", "SecurityGroupProtocolRequiredWithPorts"
        )
    if number in _WITH_PORTS:
        if 0 in (low, high):
            raise bad_request("Port 0 cannot be used.", "SecurityGroupInvalidPortValue")
        if low is None or high is None or low > high:
            raise bad_request(
                f"The port range {low}-{high} needs both ends, the lower one first.",
                "SecurityGroupInvalidPortRange",
            )
    elif number in _ICMP:
        if low is None:
            raise bad_request("An ICMP code needs an ICMP type.", "SecurityGroupMissingIcmpType")
        if max(low, high or 0) > 255:
            raise bad_request(
                f"ICMP type and code are at most 255, not {low} and {high}.",
                "SecurityGroupInvalidIcmpValue",
            )
    else:
        raise bad_request(
            f"The protocol {rule['protocol']} has no ports.", "SecurityGroupInvalidProtocolForPort"
        )


def _check_remote(state: State, context: RequestContext, rule: Document) -> None:
    remotes = ("remote_ip_prefix", "remote_group_id", "remote_address_group_id")
    if sum(rule[name] is not None for name in remotes) > 1:
        raise bad_request(
            "A rule has one remote end at most.", "SecurityGroupRemoteGroupAndRemoteIpPrefix"
        )
    if rule["remote_group_id"]:
        find(state, context, GROUP, rule["remote_group_id"])
    if rule["remote_address_group_id"]:
        find(state, context, "address_group", rule["remote_address_group_id"])
    prefix = rule["remote_ip_prefix"]
    if prefix and f"IPv{ip_network(prefix).version}" != rule["ethertype"]:
        raise bad_request(
            f"The ethertype {rule['ethertype']} does not go with the prefix {prefix}.",
            "SecurityGroupRuleParameterConflict",
        )


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Add a rule to a group; raises ApiError for one that makes no sense or is there already."""
    group = find(state, context, GROUP, values["security_group_id"])
    require_owner(context, group, "create_security_group_rule")
    ethertype = _ethertype(values["ethertype"])
    rule = {
        **values,
        "project_id": group["project_id"],
        "ethertype": ethertype,
        "protocol": _protocol(values["protocol"], ethertype),
        "port_range_min": _port(values["port_range_min"]),
        "port_range_max": _port(values["port_range_max"]),
    }
    _check_ports(rule)
    _check_remote(state, context, rule)
    for other in state.all(KIND).find(security_group_id=group["id"]):
        if all(other[name] == rule[name] for name in _IDENTITY):
            raise conflict(
                "SecurityGroupRuleExists", f"The same rule exists with the id {other['id']}."
            )
    quotas.require(state, KIND, rule["project_id"])
    created = state.create(KIND, rule)
    state.update(GROUP, state.get(GROUP, group["id"]), {})
    affect(state, group["id"])
    return created


def update(state: State, context: RequestContext, rule: Document, changes: Document) -> Document:
    """Change the description of a rule."""
    require_owner(context, rule, "update_security_group_rule")
    return state.update(KIND, rule, changes)


def delete(state: State, context: RequestContext, rule: Document) -> None:
    """Remove a rule from its group."""
    require_owner(context, rule, "delete_security_group_rule")
    state.delete(KIND, rule)
    state.update(GROUP, state.get(GROUP, rule["security_group_id"]), {})
    affect(state, rule["security_group_id"])


def view(state: State, context: RequestContext, rule: Document) -> Document:
    """Return what the API shows beyond the document."""
    return rule_document(state, rule)
