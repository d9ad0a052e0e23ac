"""Rules of security groups in one shape, from the types of both dialects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Any

from msgspec import Struct

from stoker.cli.authoring.lint.views import UNKNOWN, Resource, TemplateView, as_number
from stoker.kernel.diagnostics import Path

EVERY_PORT = (0, 65535)
_ALMOST_ALL = 60_000  # ports of a range that leaves out few
_NUMBERS = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmpv6"}


class SecurityRule(Struct, frozen=True):
    """One rule of a security group. Values that are not constant are UNKNOWN."""

    resource: Resource
    path: Path
    written: Mapping[str, Any]
    is_ingress: bool
    protocol: Any  # in lower case; None for every protocol
    low: int | None
    high: int | None
    prefix: Any
    has_group: bool
    has_known_ports: bool

    @property
    def is_from_anywhere(self) -> bool:
        """Return whether it admits every address of IPv4 or IPv6."""
        if self.has_group or self.prefix is UNKNOWN:
            return False
        return self.prefix is None or _is_everything(self.prefix)

    @property
    def ports(self) -> tuple[int, int] | None:
        """Return the range of ports; None if it is unknown, or the protocol has no ports."""
        if not self.has_known_ports or self.protocol not in ("tcp", "udp", "sctp"):
            return None
        if self.low is None and self.high is None:
            return EVERY_PORT
        low = self.high if self.low is None else self.low
        high = low if self.high is None else self.high
        return (low or 0, high or 0)

    @property
    def has_all_ports(self) -> bool:
        """Return whether it admits nearly all ports of a protocol."""
        ports = self.ports
        return ports is not None and ports[1] - ports[0] >= _ALMOST_ALL

    def admits(self, port: int) -> bool:
        """Return whether everybody can reach a port, by a rule that does not admit all ports."""
        ports = self.ports
        if not self.is_ingress or not self.is_from_anywhere or ports is None or self.has_all_ports:
            return False
        return ports[0] <= port <= ports[1]


def _is_everything(prefix: Any) -> bool:
    try:
        return ip_network(str(prefix), strict=False).prefixlen == 0
    except ValueError:
        return False


def security_rules(view: TemplateView) -> Iterator[SecurityRule]:
    """Yield the rules of security groups in a template."""
    for resource in view.of_type("OS::Neutron::SecurityGroup"):
        for entry, path in view.entries(resource.properties.get("rules"), resource.at("rules")):
            if isinstance(entry, Mapping):
                yield _rule(view, resource, entry, path, None)
    for resource in view.of_type("OS::Neutron::SecurityGroupRule"):
        yield _rule(view, resource, resource.properties, resource.path, "tcp")
    for resource in view.of_type("AWS::EC2::SecurityGroup"):
        for key in ("SecurityGroupIngress", "SecurityGroupEgress"):
            for entry, path in view.entries(resource.properties.get(key), resource.at(key)):
                if isinstance(entry, Mapping):
                    yield _aws_rule(view, resource, entry, path, is_ingress=key.endswith("Ingress"))


def _rule(
    view: TemplateView,
    resource: Resource,
    written: Mapping[str, Any],
    path: Path,
    default_protocol: str | None,
) -> SecurityRule:
    low, high = (view.constant(written.get(f"port_range_{end}")) for end in ("min", "max"))
    groups = (written.get("remote_group_id"), written.get("remote_group"))
    direction = view.constant(written.get("direction"))
    return SecurityRule(
        resource,
        path,
        written,
        direction in (None, "ingress"),
        _protocol(view.constant(written.get("protocol")), default_protocol),
        as_number(low),
        as_number(high),
        view.constant(written.get("remote_ip_prefix")),
        any(each is not None for each in groups)
        or view.constant(written.get("remote_mode")) == "remote_group_id",
        UNKNOWN not in (low, high),
    )


def _aws_rule(
    view: TemplateView,
    resource: Resource,
    written: Mapping[str, Any],
    path: Path,
    *,
    is_ingress: bool,
) -> SecurityRule:
    low, high = (view.constant(written.get(f"{end}Port")) for end in ("From", "To"))
    protocol = _protocol(view.constant(written.get("IpProtocol")), None)
    has_group = any(key.startswith("SourceSecurityGroup") for key in written)
    return SecurityRule(
        resource,
        path,
        written,
        is_ingress,
        None if protocol == "-1" else protocol,
        as_number(low),
        as_number(high),
        view.constant(written.get("CidrIp")),
        has_group,
        UNKNOWN not in (low, high),
    )


def _protocol(value: Any, default: str | None) -> Any:
    if value is None or value is UNKNOWN:
        return default if value is None else UNKNOWN
    number = as_number(value)
    if number in _NUMBERS:
        return _NUMBERS[number]
    word = str(value).lower()
    return None if word in ("any", "0", "") else word
