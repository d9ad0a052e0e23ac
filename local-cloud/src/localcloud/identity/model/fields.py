"""Validation of request bodies: the members of an object and their types."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from localcloud.web.http import BadRequestError


class Field(Struct, frozen=True):
    """A member of a request object. Members without a field are accepted unchanged."""

    name: str
    type: type = str
    required: bool = False
    nullable: bool = True
    longest: int = 255  # characters of a string, or items of a list
    choices: tuple[str, ...] = ()
    fixed: bool = False  # cannot be changed once the object exists


_NOUNS = {str: "a string", bool: "a boolean", int: "an integer", list: "a list", dict: "an object"}


def checked(
    body: dict[str, Any], fields: Sequence[Field], old: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the body if it is valid; raises :class:`BadRequestError` for the first fault.

    With ``old``, the body contains changes to that object: nothing is required, and fixed members
    must not change.
    """
    for field in fields:
        if field.name not in body:
            if field.required and old is None:
                raise BadRequestError(f"'{field.name}' is a required property.")
            continue
        value = body[field.name]
        _check(field, value)
        if old is not None and field.fixed and value != old.get(field.name):
            raise BadRequestError(f"'{field.name}' cannot be changed.")
    return body


def _check(field: Field, value: Any) -> None:
    if value is None:
        if field.nullable and not field.required:
            return
        raise BadRequestError(f"'{field.name}' must not be null.")
    wrong_number = isinstance(value, bool) and field.type is int
    if not isinstance(value, field.type) or wrong_number:
        raise BadRequestError(f"'{field.name}' must be {_NOUNS[field.type]}.")
    if isinstance(value, str | list) and len(value) > field.longest:
        raise BadRequestError(f"'{field.name}' is longer than {field.longest}.")
    if field.required and isinstance(value, str) and not value.strip():
        raise BadRequestError(f"'{field.name}' must not be empty.")
    if field.choices and value not in field.choices:
        raise BadRequestError(f"'{field.name}' must be one of {', '.join(field.choices)}.")


NAME = Field("name", required=True)
DESCRIPTION = Field("description", longest=65535)
ENABLED = Field("enabled", bool, nullable=False)
OPTIONS = Field("options", dict, nullable=False)
DOMAIN = Field("domain_id", fixed=True)
