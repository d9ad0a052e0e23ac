"""The kinds of objects of the load balancing API, field by field."""

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field

from localcloud.core.store import Document
from localcloud.load_balancer.errors import bad_field
from localcloud.network.model import checks
from localcloud.network.model.checks import Check
from localcloud.web.http import BadRequestError

# In which listeners can be talked to here.
PROTOCOLS = ("HTTP", "HTTPS", "TCP", "TERMINATED_HTTPS", "UDP")
# Those that the API has besides, and no part of this cloud speaks.
UNKNOWN_PROTOCOLS = ("SCTP", "PROMETHEUS", "PROXYV2")
_MOST_MILLISECONDS = 24 * 24 * 60 * 60 * 1000
_CODES = re.compile(r"\d{3}(\s*,\s*\d{3})*|\d{3}-\d{3}")
_DOMAIN = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,253}[A-Za-z0-9])?\.?")
_MOST_NUMBER = 2**31 - 1


class Field(Struct, frozen=True):
    """One field that requests may have."""

    check: Check
    default: Any = None  # of a new object; a change to null brings it back
    required: bool = False
    put: bool = True  # it can be changed


class Kind(Struct, frozen=True, eq=False):
    """A kind of objects."""

    name: str
    plural: str
    words: str  # as messages call it
    fields: Mapping[str, Field]
    # The field with the ID of the object that contains it, if the path has that ID.
    within: str | None = None
    quota: str | None = None
    # Lists of ids that are shown with an object: name of the list, and the kind in it.
    links: Mapping[str, str] = field(default_factory=dict)

    def new(self, body: Any) -> Document:
        """Return the values of a new object; raises BadRequestError."""
        given = _written(self, body)
        for name, known in self.fields.items():
            if known.required and given.get(name) is None:
                raise bad_field(name, None, "Mandatory field missing.")
        values = {name: deepcopy(known.default) for name, known in self.fields.items()}
        for name, value in given.items():
            if value is not None:
                values[name] = _checked(name, self.fields[name].check, value)
        return values

    def changes(self, body: Any) -> Document:
        """Return the changes that a body asks for; raises BadRequestError."""
        found: Document = {}
        for name, value in _written(self, body).items():
            known = self.fields[name]
            if not known.put:
                raise BadRequestError(f"Unknown attribute: {name}")
            if value is None:
                found[name] = deepcopy(known.default)
            else:
                found[name] = _checked(name, known.check, value)
        return found


def _written(kind: Kind, body: Any) -> Document:
    if not isinstance(body, dict):
        raise bad_field(kind.name, body, "It must be an object.")
    values = dict(body)
    if "tenant_id" in values:
        values.setdefault("project_id", values.pop("tenant_id"))
    for name in values:
        if name not in kind.fields:
            raise BadRequestError(f"Unknown attribute: {name}")
    return values


def _checked(name: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except ValueError as error:
        raise bad_field(name, value, f"{error}.") from None


def _text(limit: int = 255, pattern: re.Pattern[str] | None = None) -> Check:
    plain = checks.text(limit)

    def check(value: Any) -> str:
        text: str = plain(value)
        if pattern is not None and not pattern.fullmatch(text):
            raise ValueError("it does not have the form that it must have")
        return text

    return check


def _url_path(value: Any) -> str:
    text: str = _text()(value)
    if not text.startswith("/") or urlsplit(text).path != text.partition("?")[0] or "\n" in text:
        raise ValueError("it is not the path of a URL")
    return text


def _url(value: Any) -> str:
    text: str = _text()(value)
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or re.search(r"\s", text):
        raise ValueError("it is not a valid URL")
    return text


def _texts(value: Any) -> dict[str, str]:
    found = checks.plain_object(value)
    plain = _text()
    return {plain(key): plain(str(entry)) for key, entry in found.items()}


def _anything(value: Any) -> Any:
    return value


_BOOLEAN, _UUID, _ADDRESS = checks.boolean, checks.uuid, checks.address
_PORT = checks.integer(1, 65535)
_MILLISECONDS = checks.integer(0, _MOST_MILLISECONDS)
_SECONDS = checks.integer(0, _MOST_NUMBER)
_NAMED = {
    "name": Field(_text(), ""),
    "admin_state_up": Field(_BOOLEAN, default=True),
    "tags": Field(checks.tags, []),
    "project_id": Field(_text(64), put=False),
}
_DESCRIBED = {**_NAMED, "description": Field(_text(), "")}
_LINE = re.compile(r"[^\r\n]*")
_PERSISTENCE = checks.mapping(
    {"type": checks.one_of("SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE")},
    {
        "cookie_name": checks.optional(_text()),
        "persistence_timeout": checks.optional(_SECONDS),
        "persistence_granularity": checks.optional(_ADDRESS),
    },
)

LOAD_BALANCER = Kind(
    "loadbalancer",
    "loadbalancers",
    "Load Balancer",
    {
        **_DESCRIBED,
        "vip_address": Field(_ADDRESS, put=False),
        "vip_port_id": Field(_UUID, put=False),
        "vip_subnet_id": Field(_UUID, put=False),
        "vip_network_id": Field(_UUID, put=False),
        "vip_qos_policy_id": Field(_UUID),
        "vip_sg_ids": Field(checks.list_of(_UUID), []),
        "additional_vips": Field(checks.list_of(_anything), [], put=False),
        "provider": Field(_text(64), put=False),
        "flavor_id": Field(_UUID, put=False),
        "availability_zone": Field(_text(), put=False),
        "listeners": Field(checks.list_of(_anything), [], put=False),
        "pools": Field(checks.list_of(_anything), [], put=False),
    },
    quota="load_balancer",
    links={"listeners": "listener", "pools": "pool"},
)
LISTENER = Kind(
    "listener",
    "listeners",
    "Listener",
    {
        **_DESCRIBED,
        "loadbalancer_id": Field(_UUID, required=True, put=False),
        "protocol": Field(checks.one_of(*PROTOCOLS, *UNKNOWN_PROTOCOLS), required=True, put=False),
        "protocol_port": Field(_PORT, required=True, put=False),
        "connection_limit": Field(checks.integer(-1, _MOST_NUMBER), -1),
        "default_pool_id": Field(_UUID),
        "default_pool": Field(checks.plain_object, put=False),
        "l7policies": Field(checks.list_of(_anything), [], put=False),
        "insert_headers": Field(_texts, {}),
        "default_tls_container_ref": Field(_text()),
        "sni_container_refs": Field(checks.list_of(_text()), []),
        "client_ca_tls_container_ref": Field(_text()),
        "client_authentication": Field(checks.one_of("NONE", "OPTIONAL", "MANDATORY"), "NONE"),
        "client_crl_container_ref": Field(_text()),
        "timeout_client_data": Field(_MILLISECONDS, 50_000),
        "timeout_member_connect": Field(_MILLISECONDS, 5_000),
        "timeout_member_data": Field(_MILLISECONDS, 50_000),
        "timeout_tcp_inspect": Field(_MILLISECONDS, 0),
        "allowed_cidrs": Field(checks.list_of(checks.prefix)),
        "tls_ciphers": Field(_text(2048)),
        "tls_versions": Field(checks.list_of(_text(32)), []),
        "alpn_protocols": Field(checks.list_of(_text(32)), []),
        "hsts_max_age": Field(_SECONDS),
        "hsts_include_subdomains": Field(_BOOLEAN, default=False),
        "hsts_preload": Field(_BOOLEAN, default=False),
    },
    quota="listener",
    links={"l7policies": "l7policy"},
)
POOL = Kind(
    "pool",
    "pools",
    "Pool",
    {
        **_DESCRIBED,
        "listener_id": Field(_UUID, put=False),
        "loadbalancer_id": Field(_UUID, put=False),
        "protocol": Field(
            checks.one_of("HTTP", "HTTPS", "PROXY", "TCP", "UDP", "SCTP", "PROXYV2"),
            required=True,
            put=False,
        ),
        "lb_algorithm": Field(
            checks.one_of("ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"),
            required=True,
        ),
        "session_persistence": Field(_PERSISTENCE),
        "healthmonitor": Field(checks.plain_object, put=False),
        "members": Field(checks.list_of(_anything), [], put=False),
        "tls_enabled": Field(_BOOLEAN, default=False),
        "tls_container_ref": Field(_text()),
        "ca_tls_container_ref": Field(_text()),
        "crl_container_ref": Field(_text()),
        "tls_ciphers": Field(_text(2048)),
        "tls_versions": Field(checks.list_of(_text(32)), []),
        "alpn_protocols": Field(checks.list_of(_text(32)), []),
    },
    quota="pool",
    links={"members": "member"},
)
MEMBER = Kind(
    "member",
    "members",
    "Member",
    {
        **_NAMED,
        "address": Field(_ADDRESS, required=True, put=False),
        "protocol_port": Field(_PORT, required=True, put=False),
        "weight": Field(checks.integer(0, 256), 1),
        "backup": Field(_BOOLEAN, default=False),
        "subnet_id": Field(_UUID, put=False),
        "monitor_address": Field(_ADDRESS),
        "monitor_port": Field(_PORT),
        "request_sriov": Field(_BOOLEAN, default=False, put=False),
    },
    within="pool_id",
    quota="member",
)
MONITOR = Kind(
    "healthmonitor",
    "healthmonitors",
    "Health Monitor",
    {
        **_NAMED,
        "pool_id": Field(_UUID, required=True, put=False),
        "type": Field(
            checks.one_of("HTTP", "HTTPS", "PING", "TCP", "TLS-HELLO", "UDP-CONNECT", "SCTP"),
            required=True,
            put=False,
        ),
        "delay": Field(_SECONDS, required=True),
        "timeout": Field(_SECONDS, required=True),
        "max_retries": Field(checks.integer(1, 10), required=True),
        "max_retries_down": Field(checks.integer(1, 10), 3),
        "http_method": Field(
            checks.one_of(
                "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PATCH"
            )
        ),
        "url_path": Field(_url_path),
        "expected_codes": Field(_text(64, _CODES)),
        "http_version": Field(checks.one_of(1.0, 1.1)),
        "domain_name": Field(_text(255, _DOMAIN)),
    },
    quota="health_monitor",
)
POLICY = Kind(
    "l7policy",
    "l7policies",
    "L7 Policy",
    {
        **_DESCRIBED,
        "listener_id": Field(_UUID, required=True, put=False),
        "action": Field(
            checks.one_of("REJECT", "REDIRECT_TO_POOL", "REDIRECT_TO_URL", "REDIRECT_PREFIX"),
            required=True,
        ),
        "redirect_pool_id": Field(_UUID),
        "redirect_pool": Field(checks.plain_object, put=False),
        "redirect_url": Field(_url),
        "redirect_prefix": Field(_url),
        "redirect_http_code": Field(checks.one_of(301, 302, 303, 307, 308)),
        "position": Field(checks.integer(1, _MOST_NUMBER), _MOST_NUMBER),
        "rules": Field(checks.list_of(_anything), [], put=False),
    },
    quota="l7policy",
    links={"rules": "rule"},
)
RULE = Kind(
    "rule",
    "rules",
    "L7 Rule",
    {
        "admin_state_up": _NAMED["admin_state_up"],
        "tags": _NAMED["tags"],
        "project_id": _NAMED["project_id"],
        "type": Field(
            checks.one_of("HOST_NAME", "PATH", "FILE_TYPE", "HEADER", "COOKIE"), required=True
        ),
        "compare_type": Field(
            checks.one_of("REGEX", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "EQUAL_TO"),
            required=True,
        ),
        "key": Field(_text(255, _LINE)),
        "value": Field(_text(255, _LINE), required=True),
        "invert": Field(_BOOLEAN, default=False),
    },
    within="l7policy_id",
    quota="l7rule",
)
# The kinds of parts of a load balancer.
PARTS = (LISTENER, POOL, MEMBER, MONITOR, POLICY, RULE)

FLAVOR = Kind(
    "flavor",
    "flavors",
    "Flavor",
    {
        "name": Field(_text(), required=True),
        "description": Field(_text(), ""),
        "enabled": Field(_BOOLEAN, default=True),
        "flavor_profile_id": Field(_UUID, required=True, put=False),
    },
)
FLAVOR_PROFILE = Kind(
    "flavorprofile",
    "flavorprofiles",
    "Flavor Profile",
    {
        "name": Field(_text(), required=True),
        "provider_name": Field(_text(), required=True),
        "flavor_data": Field(_text(4096), required=True),
    },
)
ZONE = Kind(
    "availability_zone",
    "availability_zones",
    "Availability Zone",
    {
        "name": Field(_text(), required=True, put=False),
        "description": Field(_text(), ""),
        "enabled": Field(_BOOLEAN, default=True),
        "availability_zone_profile_id": Field(_UUID, required=True, put=False),
    },
)
ZONE_PROFILE = Kind(
    "availability_zone_profile",
    "availability_zone_profiles",
    "Availability Zone Profile",
    {
        "name": Field(_text(), required=True),
        "provider_name": Field(_text(), required=True),
        "availability_zone_data": Field(_text(4096), required=True),
    },
)
