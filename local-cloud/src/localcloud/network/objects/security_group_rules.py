"""The rules of security groups, and everything that a rule must not be."""

from ipaddress import ip_network
from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict
from localcloud.network.model import quotas
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, require_owner
from localcloud.network.objects.packet_filters import PROTOCOLS, protocol_number
from localcloud.network.objects.security_groups import KIND as GROUP
from localcloud.network.objects.security_groups import affect
from localcloud.web.http import RequestContext

KIND = "security_group_rule"

_WITH_PORTS = frozenset({6, 17, 33, 132, 136})
_ICMP = frozenset({1, 58})
_IDENTITY = (
    "direction", "ethertype", "port_range_min", "port_range_max", "remote_group_id",
    "remote_address_group_id",
)  # fmt: skip


def _ethertype(value: Any) -> str:
    for known in ("IPv4", "IPv6"):
        if str(value or "IPv4").lower() == known.lower():
            return known
    raise bad_request(
        f"'{value}' is not an ethertype; IPv4 and IPv6 are.", "SecurityGroupRuleInvalidEtherType"
    )


def _protocol(value: Any, ethertype: str) -> str | None:
    if value is None or str(value).lower() in ("any", ""):
        return None
    name = str(value).lower()
    number = PROTOCOLS.get(name)
    if number is None:
        if not name.isdecimal() or int(name) > 255:
            raise bad_request(
                f"Security group rule protocol {value} not supported. Only protocol values"
                f" {(None, 'any', *PROTOCOLS)} and integer representations [0 to 255] are"
                " supported.",
                "SecurityGroupRuleInvalidProtocol",
            )
        name = str(int(name))
    if ethertype == "IPv6" and name in ("icmp", "icmpv6"):
        return "ipv6-icmp"
    if ethertype == "IPv4" and (name.startswith("ipv6-") or name == "icmpv6"):
        raise bad_request(
            f"Invalid ethertype IPv4 for protocol {name}.",
            "SecurityGroupEthertypeConflictWithProtocol",
        )
    return name


def _port(value: Any) -> int | None:
    if value is None or value == "":
        return None
    text = str(value)
    if isinstance(value, bool) or not text.removeprefix("-").isdecimal():
        raise bad_request(f"Invalid value for port {value}", "SecurityGroupInvalidPortValue")
    number = int(text)
    if not -1 <= number <= 65535:
        raise bad_request(f"Invalid value for port {value}", "SecurityGroupInvalidPortValue")
    return None if number == -1 else number


def _check_ports(rule: Document) -> None:
    low, high = rule["port_range_min"], rule["port_range_max"]
    if low is None and high is None:
        return
    number = protocol_number(rule["protocol"])
    if number is None:
        raise bad_request(
            "Must also specify protocol if port range is given.",
            "SecurityGroupProtocolRequiredWithPorts",
        )
    if number in _WITH_PORTS:
        if 0 in (low, high):
            raise bad_request("Invalid value for port 0", "SecurityGroupInvalidPortValue")
        if low is None or high is None or low > high:
            raise bad_request(
                "For TCP/UDP protocols, port_range_min must be <= port_range_max",
                "SecurityGroupInvalidPortRange",
            )
    elif number in _ICMP:
        if low is None:
            raise bad_request(
                f"ICMP code (port-range-max) {high} is provided but ICMP type (port-range-min) is"
                " missing.",
                "SecurityGroupMissingIcmpType",
            )
        for word, field, value in (("type", "min", low), ("code", "max", high or 0)):
            if value > 255:
                raise bad_request(
                    f"Invalid value for ICMP {word} (port_range_{field}) {value}. It must be 0 to"
                    " 255.",
                    "SecurityGroupInvalidIcmpValue",
                )
    else:
        raise bad_request(
            f"Ports cannot be specified for protocol {number}. Ports are only supported for DCCP,"
            " SCTP, TCP, UDP, UDPLITE.",
            "SecurityGroupInvalidProtocolForPort",
        )


def _check_remote(state: State, context: RequestContext, rule: Document) -> None:
    remotes = ("remote_ip_prefix", "remote_group_id", "remote_address_group_id")
    if sum(rule[name] is not None for name in remotes) > 1:
        raise bad_request(
            "Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be"
            " provided.",
            "SecurityGroupMultipleRemoteEntites",
        )
    if rule["remote_group_id"]:
        find(state, context, GROUP, rule["remote_group_id"])
    if rule["remote_address_group_id"]:
        find(state, context, "address_group", rule["remote_address_group_id"])
    prefix = rule["remote_ip_prefix"]
    if prefix and f"IPv{ip_network(prefix).version}" != rule["ethertype"]:
        raise bad_request(
            f"Conflicting value ethertype {rule['ethertype']} for CIDR {prefix}",
            "SecurityGroupRuleParameterConflict",
        )


def _meaning(rule: Document) -> tuple[Any, ...]:
    """Return a key that equal rules share. A group has at most one rule with each key."""
    plain = tuple(rule[name] for name in _IDENTITY)
    prefix = rule["remote_ip_prefix"]
    return (
        *plain,
        protocol_number(rule["protocol"]),
        None if prefix in ("0.0.0.0/0", "::/0") else prefix,
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
        if _meaning(other) == _meaning(rule):
            raise conflict(
                "SecurityGroupRuleExists",
                f"Security group rule already exists. Rule id is {other['id']}.",
            )
    quotas.require(state, KIND, rule["project_id"])
    created = state.create(KIND, rule)
    state.update(GROUP, state.get(GROUP, group["id"]), {})
    affect(state, group["id"])
    return created


def delete(state: State, context: RequestContext, rule: Document) -> None:
    """Remove a rule from its group."""
    state.delete(KIND, rule)
    state.update(GROUP, state.get(GROUP, rule["security_group_id"]), {})
    affect(state, rule["security_group_id"])
