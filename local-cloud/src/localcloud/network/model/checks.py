"""Permitted values of attributes: each check returns the value as stored or raises ValueError.

The text of the error is the reason, without the attribute's name.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any
from uuid import UUID

Check = Callable[[Any], Any]

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_LABEL = r"[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?"
_DNS_NAME = re.compile(rf"({_LABEL}(\.{_LABEL})*\.?)?")


def anything(value: Any) -> Any:
    """Accept every value."""
    return value


def text(limit: int = 255) -> Check:
    """Return a check for text of at most ``limit`` characters."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"'{value}' is not a valid string")
        if len(value) > limit:
            raise ValueError(f"it is longer than {limit} characters")
        return value

    return check


def optional(check: Check) -> Check:
    """Return a check that lets None pass as well."""
    return lambda value: None if value is None else check(value)


def boolean(value: Any) -> bool:
    """Accept booleans and their usual spellings."""
    if isinstance(value, bool):
        return value
    lowered = str(value).lower()
    if lowered in {"true", "1", "yes", "on"}:
        return True
    if lowered in {"false", "0", "no", "off"}:
        return False
    raise ValueError(f"'{value}' is not a boolean")


def integer(low: int, high: int) -> Check:
    """Return a check for whole numbers from ``low`` to ``high``."""

    def check(value: Any) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError):
            raise ValueError(f"'{value}' is not an integer") from None
        if isinstance(value, bool | float) or not low <= number <= high:
            raise ValueError(f"'{value}' is not an integer from {low} to {high}")
        return number

    return check


def one_of(*values: Any) -> Check:
    """Return a check for one of the values."""

    def check(value: Any) -> Any:
        if value not in values:
            raise ValueError(f"'{value}' is not one of {list(values)}")
        return value

    return check


def uuid(value: Any) -> str:
    """Accept UUIDs, with or without hyphens."""
    try:
        UUID(value)
    except (TypeError, ValueError, AttributeError):
        raise ValueError(f"'{value}' is not a valid UUID") from None
    return str(value)


def _parsed(parse: Callable[[str], object], fault: str) -> Check:
    """Return a check for text that can be parsed; it returns the canonical spelling."""

    def check(value: Any) -> str:
        try:
            if isinstance(value, str):
                return str(parse(value))
        except ValueError:
            pass
        raise ValueError(f"'{value}' {fault}")

    return check


address = _parsed(ip_address, "is not a valid IP address")  # accepts IP addresses
# Accepts addresses and CIDRs; returns the network in which they lie.
prefix = _parsed(partial(ip_network, strict=False), "is neither an IP address nor a CIDR")


def address_or_cidr(value: Any) -> str:
    """Accept addresses and CIDRs, and return them unchanged."""
    prefix(value)
    return str(value)


def mac(value: Any) -> str:
    """Accept MAC addresses of one interface; returns lower case."""
    lowered = str(value).lower().replace("-", ":")
    if not _MAC.fullmatch(lowered) or int(lowered[:2], 16) & 1 or lowered == "00:00:00:00:00:00":
        raise ValueError(f"'{value}' is not a valid MAC address")
    return lowered


def dns_name(value: Any) -> str:
    """Accept host and domain names, and the empty text."""
    if not isinstance(value, str) or len(value) > 255 or not _DNS_NAME.fullmatch(value):
        raise ValueError(f"'{value}' is not a valid DNS name")
    return value.lower()


def list_of(check: Check, limit: int = 1000) -> Check:
    """Return a check for lists without duplicates; None stands for the empty one."""

    def checked(value: Any) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > limit:
            raise ValueError(f"'{value}' is not a list of at most {limit} items")
        items = [check(item) for item in value]
        spelled = {json.dumps(item, sort_keys=True) for item in items}
        if len(spelled) != len(items):
            raise ValueError(f"there are duplicates in '{value}'")
        return items

    return checked


def mapping(required: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> Check:
    """Return a check for objects with exactly these keys."""
    known = {**required, **(others or {})}

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"'{value}' is not an object")
        for key in value:
            if key not in known:
                raise ValueError(f"'{key}' is not among the keys {sorted(known)}")
        for key in required:
            if key not in value:
                raise ValueError(f"the key '{key}' is missing in '{value}'")
        return {key: known[key](item) for key, item in value.items()}

    return check


def plain_object(value: Any) -> dict[str, Any]:
    """Accept any JSON object; None stands for the empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"'{value}' is not an object")
    return value


def gateway_info(value: Any) -> dict[str, Any]:
    """Accept a valid ``external_gateway_info``; None and {} clear the gateway."""
    if not value:
        return {}
    fixed = mapping({}, {"subnet_id": uuid, "ip_address": address})
    check = mapping(
        {"network_id": uuid},
        {"enable_snat": boolean, "external_fixed_ips": list_of(fixed), "qos_policy_id": anything},
    )
    found: dict[str, Any] = check(value)
    return found


tags: Check = list_of(text(255), limit=50)
description: Check = text(255)
name: Check = text(255)
fixed_ips: Check = list_of(mapping({}, {"subnet_id": uuid, "ip_address": address}))
routes: Check = list_of(mapping({"destination": prefix, "nexthop": address}))
pools: Check = list_of(mapping({"start": address, "end": address}))
address_pairs: Check = list_of(
    mapping({"ip_address": address_or_cidr}, {"mac_address": optional(mac)})
)
dhcp_options: Check = list_of(
    mapping({"opt_name": text(64)}, {"opt_value": optional(text(255)), "ip_version": integer(4, 6)})
)

subports = list_of(
    mapping(
        {"port_id": uuid},
        {"segmentation_id": integer(1, 4094), "segmentation_type": one_of("vlan")},
    )
)
