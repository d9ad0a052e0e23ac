"""Checks of the values of zones and record sets: names, mail addresses, records."""

import re
from collections.abc import Mapping
from typing import Any

import dns.exception
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from localcloud.dns.errors import bad_request, invalid

TYPES = (
    "A", "AAAA", "CNAME", "MX", "SRV", "TXT", "SPF", "NS", "PTR", "SSHFP", "SOA", "NAPTR", "CAA",
    "CERT",
)  # fmt: skip
_LABEL = r"(?!-)[A-Za-z0-9_\-]{1,63}(?<!-)"
_ZONE = re.compile(rf"({_LABEL}\.)+")
_HOST = re.compile(rf"(\*\.)?({_LABEL}\.)+")
_EMAIL = re.compile(r"[^@\s\\]{1,64}@([A-Za-z0-9\-]{1,63}\.)*[A-Za-z0-9\-]{1,63}")
_LONGEST = 255
_MOST_SECONDS = 2**31 - 1


def zone_name(value: Any) -> str:
    """Return the name of a zone; raises DnsError."""
    name = _name(value, _ZONE, "domain")
    if name.count(".") <= 1:
        raise bad_request("More than one label is required", "invalid_zone_name")
    return name


def host_name(value: Any) -> str:
    """Return the name of a record set; raises DnsError."""
    return _name(value, _HOST, "hostname")


def _name(value: Any, pattern: re.Pattern[str], word: str) -> str:
    if value is None:
        raise invalid(["name"], "'name' is a required property")
    if not isinstance(value, str) or len(value) > _LONGEST or not pattern.fullmatch(value):
        raise invalid(["name"], f"{value!r} is not a '{word}'")
    return value.lower()


def email(value: Any) -> str:
    """Return the address of whom a zone belongs to; raises DnsError."""
    if value is None:
        raise invalid(["type"], "'email' is a required property")
    if not isinstance(value, str) or len(value) > _LONGEST or not _EMAIL.fullmatch(value):
        raise invalid(["email"], f"{value!r} is not a 'email'")
    return value


def ttl(value: Any) -> int | None:
    """Return for how many seconds answers hold; raises DnsError."""
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid(["ttl"], f"{value!r} is not of type 'integer'")
    if not 0 <= value <= _MOST_SECONDS:
        raise invalid(["ttl"], f"{value!r} is not between 0 and {_MOST_SECONDS}")
    return value


def description(value: Any) -> str | None:
    """Return the description of an object; raises DnsError."""
    if value is not None and (not isinstance(value, str) or len(value) > 160):
        raise invalid(["description"], f"{value!r} is too long")
    return value


def texts(fields: Mapping[str, Any], name: str) -> list[str]:
    """Return a field that is a list of texts; raises DnsError."""
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise invalid([name], f"'{value}' is not a valid list of {name}")
    return list(dict.fromkeys(value))


def check_records(kind: str, records: list[str]) -> None:
    """Raise DnsError for records that are none of their type."""
    for number, record in enumerate(records):
        try:
            dns.rdata.from_text(
                dns.rdataclass.IN, dns.rdatatype.from_text(kind), record, relativize=False
            )
        except (dns.exception.DNSException, ValueError) as error:
            message = f"'{record}' is not a '{kind}' Record"
            raise invalid(["records", number], message) from error


def known_fields(body: Mapping[str, Any], known: frozenset[str], word: str) -> None:
    """Raise DnsError for fields that an object does not have."""
    unknown = sorted(body.keys() - known)
    if unknown:
        message = f"Additional properties are not allowed ('{unknown[0]}' was unexpected)"
        raise invalid([word], message)
