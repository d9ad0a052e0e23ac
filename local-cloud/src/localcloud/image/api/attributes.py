"""Checks of the attributes of an image."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from localcloud.core.store import Document
from localcloud.image.model.presentation import READ_ONLY, RESERVED
from localcloud.web.http import BadRequestError, ForbiddenError, RequestContext, TooLargeError

CONTAINER_FORMATS = ("ami", "ari", "aki", "bare", "ovf", "ova", "docker", "compressed")
DISK_FORMATS = (
    "ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop",
)  # fmt: skip
VISIBILITIES = ("public", "private", "shared", "community")
PROPERTY_LIMIT = 128
TAG_LIMIT = 128
_TEXT_LIMIT = 255
_VALUE_LIMIT = 65535


def checked(name: str, value: Any) -> Any:
    """Return the value of an attribute or property if it is right; raises
    :class:`BadRequestError`.
    """
    check = _CHECKS.get(name)
    if check is not None:
        check(name, value)
    elif not isinstance(value, str) or len(value) > _VALUE_LIMIT or not 0 < len(name) <= 255:
        raise BadRequestError(f"The property '{name}' must be a string of at most {_VALUE_LIMIT}.")
    return value


def split(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the attributes and the properties in a request body, all checked."""
    for name in body:
        if name in READ_ONLY - {"id"}:
            raise ForbiddenError(f"Attribute '{name}' is read-only.")
        if name.startswith(RESERVED):
            raise ForbiddenError(f"Attribute '{name}' is reserved.")
    if "id" in body:
        image_id(body["id"])
    attributes = {name: checked(name, body[name]) for name in body if name in BASE}
    properties = {name: checked(name, body[name]) for name in body if name not in BASE | {"id"}}
    limit_properties(properties)
    return attributes, properties


def limit_properties(properties: Mapping[str, str]) -> None:
    """Raise :class:`TooLargeError` where there are more properties than an image may have."""
    if len(properties) > PROPERTY_LIMIT:
        raise TooLargeError(f"An image may have {PROPERTY_LIMIT} properties.")


def image_id(value: Any) -> str:
    """Return an id that a client chose; raises :class:`BadRequestError` if it is not a UUID."""
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError) as error:
        raise BadRequestError("The id of an image must be a UUID.") from error


def authorize(who: RequestContext, changes: Mapping[str, Any], old: Document | None) -> None:
    """Raise :class:`ForbiddenError` for values that this caller may not set."""
    if changes.get("visibility") == "public" and not who.is_admin:
        raise ForbiddenError("Only an administrator may make an image public.")
    current = old["owner"] if old else who.project_id
    if changes.get("owner", current) != current and not who.is_admin:
        raise ForbiddenError("Only an administrator may choose the owner of an image.")
    if old is None or old["status"] == "queued":
        return
    for name in ("container_format", "disk_format"):
        if changes.get(name, old[name]) != old[name]:
            raise ForbiddenError(f"Attribute '{name}' can be replaced only for a queued image.")


def _text(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, str) or len(value) > _TEXT_LIMIT):
        raise BadRequestError(f"'{name}' must be a string of at most {_TEXT_LIMIT} characters.")


def _number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
        raise BadRequestError(f"'{name}' must be an integer of 0 or more.")


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise BadRequestError(f"'{name}' must be a boolean.")


def _tags(name: str, value: Any) -> None:
    if not isinstance(value, list):
        raise BadRequestError(f"'{name}' must be a list.")
    for tag in value:
        if not isinstance(tag, str) or not 0 < len(tag) <= _TEXT_LIMIT:
            raise BadRequestError("A tag must be a string of 1 to 255 characters.")
    if len(set(value)) > TAG_LIMIT:
        raise TooLargeError(f"An image may have {TAG_LIMIT} tags.")


def _one_of(*choices: str | None) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, str | None) or value not in choices:
            known = ", ".join(choice for choice in choices if choice)
            raise BadRequestError(f"'{name}' must be one of {known}.")

    return check


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    "name": _text,
    "owner": _text,
    "visibility": _one_of(*VISIBILITIES),
    "protected": _flag,
    "os_hidden": _flag,
    "min_disk": _number,
    "min_ram": _number,
    "container_format": _one_of(None, *CONTAINER_FORMATS),
    "disk_format": _one_of(None, *DISK_FORMATS),
    "tags": _tags,
}
BASE = frozenset(_CHECKS)  # members that clients can set; all others are properties
