"""Reading the fields of request bodies: each function returns a checked value or refuses."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from localcloud.web.http import ApiError, BadRequestError, boolean

LONGEST = 255
_LONGEST_VALUE = 1023
_LARGEST = 2**31 - 1
_MOST_METADATA = 128


class UnprocessableError(ApiError):
    """The body lacks the object of the request."""

    status = 422
    type = "UnprocessableEntity"


def wrapped(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object that a body has under this name; raises :class:`UnprocessableError`."""
    found = body.get(name)
    if not isinstance(found, dict):
        raise UnprocessableError("Unable to process the contained instructions")
    return found


def refused(name: str, value: Any, why: str) -> BadRequestError:
    """Return the refusal of a field."""
    return BadRequestError(f"Invalid input for field/attribute {name}. Value: {value}. {why}")


def text(body: Mapping[str, Any], name: str, default: str | None = None) -> str | None:
    """Return a text, which may be missing or null."""
    value = body.get(name, default)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadRequestError(f"Invalid input received: {name} must be a string.")
    if len(value) > LONGEST:
        raise BadRequestError(
            f"Invalid input received: {name} can only be {LONGEST} characters long."
        )
    return value


def named(body: Mapping[str, Any]) -> dict[str, str | None]:
    """Return name and description, which have other names in older clients, as far as given."""
    found: dict[str, str | None] = {}
    for name in ("name", "description"):
        for given in (name, f"display_{name}"):
            if given in body:
                found[name] = text(body, given)
    return found


def flag(body: Mapping[str, Any], name: str, default: bool) -> bool:
    """Return a boolean; the usual words for it are taken, too."""
    value = body.get(name, default)
    if isinstance(value, bool):
        return value
    try:
        return boolean(str(value) or "-")
    except BadRequestError:
        raise BadRequestError(
            f"Unrecognized value '{value}', acceptable values are: '0', '1', 'f', 'false', 'n', "
            "'no', 'off', 'on', 't', 'true', 'y', 'yes'"
        ) from None


def size(value: Any) -> int:
    """Return the size of a share."""
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= _LARGEST:
        raise BadRequestError(
            f"Invalid input received: Share size '{value}' must be an integer and greater than 0."
        )
    return number


def new_size(body: Mapping[str, Any], action: str) -> int:
    """Return the size that a share is to have."""
    if "new_size" not in body:
        raise refused(action, dict(body), "'new_size' is a required property")
    value = body["new_size"]
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 11:
        return int(value)
    if isinstance(value, str):
        raise refused("new_size", value, f"{value!r} does not match '^[0-9]*$'")
    if isinstance(value, bool) or not isinstance(value, int):
        raise refused("new_size", value, f"{value!r} is not of type 'string', 'integer'")
    if not 0 <= value <= _LARGEST:
        raise refused("new_size", value, f"{value} is out of range")
    return value


def metadata(value: Any) -> dict[str, str]:
    """Return metadata: texts by keys."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise BadRequestError("Malformed request body")
    for key, item in value.items():
        if not key:
            raise BadRequestError("Metadata property key is blank.")
        if len(key) > LONGEST:
            raise BadRequestError(f"Metadata property key is greater than {LONGEST} characters.")
        if len(item) > _LONGEST_VALUE:
            raise BadRequestError(
                f"Metadata property value is greater than {_LONGEST_VALUE} characters."
            )
    if len(value) > _MOST_METADATA:
        raise BadRequestError(f"There can be {_MOST_METADATA} items of metadata.")
    return dict(value)


def uuid(body: Mapping[str, Any], name: str, where: str) -> str:
    """Return an id that must be there."""
    if name not in body:
        raise refused(where, dict(body), f"'{name}' is a required property")
    try:
        return str(UUID(body[name]))
    except (ValueError, AttributeError, TypeError):
        raise refused(name, body[name], f"{body[name]!r} is not a 'uuid'") from None
