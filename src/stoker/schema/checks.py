"""Custom constraints that need no cloud: pure functions from a value to its fault.

Custom constraints named here are checked directly; all other names of :data:`CLOUD` are checked by
a cloud (:class:`stoker.schema.constraints.CustomCheck`).
"""

from __future__ import annotations

import ipaddress
import json
import re
import zoneinfo
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from stoker.kernel.json.faults import fault_of
from stoker.schema.cron import cron_fault

Check = Callable[[Any], str | None]  # returns the fault of the value, or None

_MAC = re.compile(
    r"[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE)
MAX_DOMAIN_LENGTH = 255


def _reads(read: Callable[[str], Any], value: Any) -> bool:
    try:
        read(str(value))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def ip_addr(value: Any) -> str | None:
    """An IPv4 or IPv6 address."""
    if _reads(ipaddress.ip_address, value):
        return None
    return f"{value!r} is neither an IPv4 nor an IPv6 address"


def net_cidr(value: Any) -> str | None:
    """A network with its prefix length, as ``10.0.0.0/24``; host bits may be set."""
    if "/" not in str(value):
        return f"{value!r} is not a network: a prefix length such as /24 is missing"
    if _reads(partial(ipaddress.ip_network, strict=False), value):
        return None
    return f"{value!r} is not a network such as 10.0.0.0/24 or 2001:db8::/64"


def ip_or_cidr(value: Any) -> str | None:
    """An address, or a network with its prefix length."""
    if "/" in str(value):
        return net_cidr(value)
    return ip_addr(value)


def mac_addr(value: Any) -> str | None:
    """A hardware address, as ``fa:16:3e:00:00:01``."""
    if _MAC.fullmatch(str(value)):
        return None
    return f"{value!r} is not a MAC address such as fa:16:3e:00:00:01"


def _name_fault(name: str) -> str | None:
    if not name:
        return None  # Optional names have an empty text as their default.
    if len(name) > MAX_DOMAIN_LENGTH:
        return f"{name!r} has {len(name)} characters; a DNS name has at most {MAX_DOMAIN_LENGTH}"
    labels = name.removesuffix(".").split(".")
    for label in labels:
        if not _LABEL.fullmatch(label):
            return (
                f"{name!r} is not a DNS name: its part {label!r} must have 1 to 63 letters, digits "
                "and hyphens, and neither begin nor end with a hyphen"
            )
    if name.endswith(".") and len(labels) > 1 and labels[-1].isdigit():
        return f"{name!r} is not a DNS name: the top-level domain cannot be a number"
    return None


def dns_name(value: Any) -> str | None:
    """A relative or fully qualified DNS name, or an empty text."""
    return _name_fault(str(value))


def rel_dns_name(value: Any) -> str | None:
    """A DNS name without the final dot, or an empty text."""
    if str(value).endswith("."):
        return f"{value!r} ends with a dot; a relative name is needed here"
    return _name_fault(str(value))


def dns_domain(value: Any) -> str | None:
    """A fully qualified domain, ending with a dot, or an empty text."""
    if value and not str(value).endswith("."):
        return f"{value!r} is not fully qualified: it must end with a dot"
    return _name_fault(str(value))


def cron_expression(value: Any) -> str | None:
    """Five fields: minute, hour, day of month, month, day of week."""
    return cron_fault(str(value)) if value else None


def timezone(value: Any) -> str | None:
    """A name of the time zone database, as ``Europe/Prague``."""
    if not value or _reads(zoneinfo.ZoneInfo, value):
        return None
    return f"{value!r} is not a time zone such as Europe/Prague"


def moment_of(value: Any) -> datetime | None:
    """Return the time of a text in ISO 8601 notation, by default in UTC."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def iso_8601(value: Any) -> str | None:
    """A date, or date and time, in ISO 8601 notation."""
    if moment_of(value) is None:
        return f"{value!r} is not a time in ISO 8601 notation, as 2026-01-31T12:00:00Z"
    return None


def expiration(value: Any) -> str | None:
    """A time in ISO 8601 notation that lies ahead."""
    if not value:
        return None
    moment = moment_of(value)
    if moment is None:
        return iso_8601(value)
    if moment <= datetime.now(UTC):
        return f"{value!r} lies in the past"
    return None


def json_string(value: Any) -> str | None:
    """JSON text."""
    try:
        json.loads(str(value))
    except RecursionError:
        return "the JSON text is nested too deeply"
    except ValueError as error:
        return f"{value!r} is not JSON: {fault_of(error)}"
    return None


def test_constr(value: Any) -> str | None:
    """Accepts anything; for tests of templates."""
    return None


# Custom constraints that are checked here, by name.
PURE: Mapping[str, Check] = {
    "cron_expression": cron_expression,
    "dns_domain": dns_domain,
    "dns_name": dns_name,
    "expiration": expiration,
    "ip_addr": ip_addr,
    "ip_or_cidr": ip_or_cidr,
    "iso_8601": iso_8601,
    "json_string": json_string,
    "mac_addr": mac_addr,
    "net_cidr": net_cidr,
    "rel_dns_name": rel_dns_name,
    "test_constr": test_constr,
    "timezone": timezone,
}

# Custom constraints that only a cloud can check.
CLOUD = frozenset(
    {
        "barbican.container", "barbican.secret", "blazar.reservation", "cinder.backup",
        "cinder.qos_specs", "cinder.snapshot", "cinder.volume", "cinder.vtype", "designate.zone",
        "glance.image", "ironic.node", "ironic.portgroup", "keystone.domain", "keystone.group",
        "keystone.project", "keystone.region", "keystone.role", "keystone.service", "keystone.user",
        "magnum.cluster_template", "manila.share_network", "manila.share_snapshot",
        "manila.share_type", "mistral.workflow", "neutron.address_scope", "neutron.flow_classifier",
        "neutron.lbaas.listener", "neutron.lbaas.loadbalancer", "neutron.lbaas.pool",
        "neutron.lbaas.provider", "neutron.network", "neutron.port", "neutron.port_pair",
        "neutron.port_pair_group", "neutron.qos_policy", "neutron.router", "neutron.security_group",
        "neutron.segment", "neutron.subnet", "neutron.subnetpool", "neutron.taas.tap_flow",
        "neutron.taas.tap_service", "nova.flavor", "nova.host", "nova.keypair", "nova.network",
        "nova.server", "octavia.availabilityzone", "octavia.availabilityzoneprofile",
        "octavia.flavor", "octavia.flavorprofile", "octavia.l7policy", "octavia.listener",
        "octavia.loadbalancer", "octavia.pool", "trove.flavor", "zaqar.queue",
    }
)  # fmt: skip
