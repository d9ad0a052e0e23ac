"""Reading the fields of request bodies: each function returns a checked value or refuses."""

import re
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from localcloud.web.http import BadRequestError

LONGEST = 255
_LARGEST = 2**31 - 1
_KEY = re.compile(r"[a-zA-Z0-9-_:. /]{1,255}")
_TRUE = frozenset({"true", "1", "on", "yes", "y", "t"})
_FALSE = frozenset({"false", "0", "off", "no", "n", "f"})


def refused(name: str, value: Any, why: str) -> BadRequestError:
    """Return the refusal of a field."""
    return BadRequestError(f"Invalid input for field/attribute {name}. Value: {value}. {why}")


def allowed(body: Mapping[str, Any], names: Collection[str], where: str) -> None:
    """Refuse fields that the API does not have."""
    unknown = sorted(set(body) - set(names))
    if unknown:
        listed = ", ".join(f"'{name}'" for name in unknown)
        were = "was" if len(unknown) == 1 else "were"
        raise refused(
            where, dict(body), f"Additional properties are not allowed ({listed} {were} unexpected)"
        )


def required(body: Mapping[str, Any], name: str, where: str) -> Any:
    """Return the value of a field that must be there."""
    if body.get(name) is None:
        raise refused(where, dict(body), f"'{name}' is a required property")
    return body[name]


def text(body: Mapping[str, Any], name: str, default: str | None = None) -> str | None:
    """Return a text, which may be missing or null."""
    value = body.get(name, default)
    if value is None:
        return None
    if not isinstance(value, str):
        raise refused(name, value, f"{value!r} is not of type 'string', 'null'")
    if len(value) > LONGEST:
        raise BadRequestError(
            f"Invalid input received: {name} has {len(value)} characters, more than {LONGEST}."
        )
    return value


def name(body: Mapping[str, Any], key: str = "name") -> str:
    """Return a name of 1 to 255 characters, without blanks around it."""
    value = text(body, key)
    if value is None or not value.strip():
        raise refused(key, value, f"{value!r} should be non-empty")
    return value.strip()


def number(value: Any, name: str, least: int = 0) -> int:
    """Return a whole number; numbers in text are taken, too."""
    given = value
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,10}", value):
        value = int(value)
    if isinstance(value, str):
        raise refused(name, given, f"{given!r} does not match '^[0-9]+$'")
    if isinstance(value, bool) or not isinstance(value, int):
        raise refused(name, given, f"{given!r} is not of type 'integer', 'string'")
    if value < least:
        raise refused(name, given, f"{value} is less than the minimum of {least}")
    if value > _LARGEST:
        raise refused(name, given, f"{value} is greater than the maximum of {_LARGEST}")
    return value


def boolean(body: Mapping[str, Any], name: str, default: bool) -> bool:
    """Return a boolean; the usual words for it are taken, too."""
    value = body.get(name, default)
    if isinstance(value, bool):
        return value
    lowered = str(value).strip().lower()
    if lowered not in _TRUE | _FALSE:
        raise refused(name, value, f"{value!r} is not one of [True, False]")
    return lowered in _TRUE


def texts(value: Any, name: str) -> dict[str, str]:
    """Return a map of text to text, as metadata is."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise refused(name, value, f"{value!r} is not of type 'object'")
    for key, item in value.items():
        if not _KEY.fullmatch(key):
            raise refused(name, key[:LONGEST], "the key has characters that are not allowed")
        if not isinstance(item, str):
            raise refused(key, item, f"{item!r} is not of type 'string'")
        if len(item) > LONGEST:
            raise refused(key, item[:LONGEST], "it must be a text of up to 255 characters")
    return dict(value)


def mapping(value: Any, name: str) -> dict[str, Any]:
    """Return an object."""
    if not isinstance(value, dict):
        raise refused(name, value, f"{value!r} is not of type 'object'")
    return value


def uuid(value: Any, name: str) -> str:
    """Return a UUID in its usual form."""
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise refused(name, value, f"{value!r} is not a 'uuid'") from None
