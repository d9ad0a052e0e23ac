"""Reading the fields of request bodies: each function returns a checked value or refuses."""

import base64
import binascii
import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from localcloud.web.http import BadRequestError

_PRINTABLE = re.compile(r"[^\x00-\x1f\x7f]*")
_METADATA_KEY = re.compile(r"[a-zA-Z0-9-_:. ]{1,255}")
_HOSTNAME = re.compile(r"[a-zA-Z0-9]([-a-zA-Z0-9.]{0,253}[a-zA-Z0-9])?")
_COSTLY = re.compile(r"\)[*+?{]|\\[0-9]|\(\?")
_REPETITION_LIMIT = 3
INTEGER_LIMIT = 2**31 - 1


def allowed(body: dict[str, Any], names: Collection[str], where: str) -> None:
    """Refuse fields that the API does not have in this version."""
    unknown = sorted(set(body) - set(names))
    if unknown:
        raise BadRequestError(
            f"Additional properties are not allowed in {where}: {', '.join(unknown)}."
        )


def text(body: dict[str, Any], key: str, *, shortest: int = 1, longest: int = 255) -> str:
    """Return the text under ``key``, which must be there."""
    if key not in body:
        raise BadRequestError(f"'{key}' is a required property.")
    value = body[key]
    if not isinstance(value, str):
        raise BadRequestError(f"Invalid input for '{key}': it must be a string.")
    if not shortest <= len(value) <= longest:
        raise BadRequestError(
            f"Invalid input for '{key}': it must have {shortest} to {longest} characters."
        )
    return value


def name(body: dict[str, Any], key: str = "name") -> str:
    """Return a name: 1 to 255 printable characters, without blanks around it."""
    value = text(body, key).strip()
    if not value or not _PRINTABLE.fullmatch(value):
        raise BadRequestError(f"Invalid input for '{key}': it must have printable characters.")
    return value


def optional_text(body: dict[str, Any], key: str, longest: int = 255) -> str | None:
    """Return the text under ``key``, None where it is missing or null."""
    return None if body.get(key) is None else text(body, key, shortest=0, longest=longest)


def integer(
    body: dict[str, Any],
    key: str,
    default: int | None = None,
    *,
    least: int = 0,
    most: int = INTEGER_LIMIT,
) -> int:
    """Return a whole number; numbers in text are taken, too."""
    value = body.get(key, default)
    if value is None:
        raise BadRequestError(f"'{key}' is a required property.")
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,10}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadRequestError(f"Invalid input for '{key}': it must be a number, {least} to {most}.")
    return value


def boolean(body: dict[str, Any], key: str, default: bool) -> bool:
    """Return a boolean; the usual words for it are taken, too."""
    value = body.get(key, default)
    if isinstance(value, bool):
        return value
    lowered = str(value).strip().lower()
    if lowered in {"true", "1", "on", "yes"}:
        return True
    if lowered in {"false", "0", "off", "no"}:
        return False
    raise BadRequestError(f"Invalid input for '{key}': '{value}' is not a boolean.")


def mapping(body: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object under ``key``, {} where it is missing or null."""
    value = body.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequestError(f"Invalid input for '{key}': it must be an object.")
    return value


def objects(body: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the list of objects under ``key``, [] where it is missing or null."""
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise BadRequestError(f"Invalid input for '{key}': it must be a list of objects.")
    return value


def metadata(value: Any, where: str = "metadata") -> dict[str, str]:
    """Return a map of text to text as servers, flavors and aggregates have it."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequestError(f"Invalid input for '{where}': it must be an object.")
    for key, item in value.items():
        if not _METADATA_KEY.fullmatch(key):
            raise BadRequestError(
                f"Invalid input for '{where}': the key '{key[:64]}' is not allowed."
            )
        if not isinstance(item, str) or len(item) > 255:
            raise BadRequestError(
                f"Invalid input for '{where}': '{key}' must be a string of up to 255 characters."
            )
    return dict(value)


def uuid(value: Any, where: str) -> str:
    """Return the UUID in its usual form."""
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise BadRequestError(f"Invalid input for '{where}': '{value}' is not a UUID.") from None


def moment(text: str) -> datetime:
    """Return a point in time; one without a time zone is in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequestError(f"'{text[:64]}' is not a point in time.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def hostname(value: Any) -> str:
    """Return a host name or a qualified domain name."""
    if not isinstance(value, str) or not _HOSTNAME.fullmatch(value):
        raise BadRequestError(f"Invalid input for 'hostname': '{value}' is not a host name.")
    return value


def encoded(value: Any, where: str, longest: int) -> str:
    """Return base64 text of up to ``longest`` characters, as it came."""
    if not isinstance(value, str) or len(value) > longest:
        raise BadRequestError(
            f"Invalid input for '{where}': it must be base64 text of up to {longest} characters."
        )
    try:
        base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise BadRequestError(f"Invalid input for '{where}': it is not valid base64.") from None
    return value


def reference(value: Any, where: str) -> str:
    """Return the id in a reference, which is an id or a URL that ends with one."""
    if not isinstance(value, str) or not value or len(value) > 2048:
        raise BadRequestError(f"Invalid {where} provided.")
    return value.rstrip("/").rsplit("/", 1)[-1]


def pattern(value: str, where: str) -> re.Pattern[str]:
    """Return a regular expression that cannot take long on the short texts it is for.

    Repeated groups and back references are refused, and more than a few repetitions.
    """
    plain = value.replace("\\", "")
    repetitions = sum(plain.count(sign) for sign in "*+{")
    if len(value) > 255 or _COSTLY.search(value) or repetitions > _REPETITION_LIMIT:
        raise BadRequestError(
            f"Invalid input for '{where}': the regular expression is too complex."
        )
    try:
        return re.compile(value)
    except re.error:
        raise BadRequestError(
            f"Invalid input for '{where}': '{value}' is not a regular expression."
        ) from None
