"""Tags with keys and values, stored as tags of the form ``key=value``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.api.cfn.parameters import members
from stoker.kernel.errors import MISSING_PARAMETER, VALUE_ERROR, ValidationError

_MOST = 50
_LONGEST_KEY, _LONGEST_VALUE = 128, 256


def requested_tags(parameters: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the tags of a request, or None without any. Rejects malformed ones (400)."""
    found = members(parameters, "Tags")
    if not found:
        return () if "Tags" in parameters else None
    if len(found) > _MOST:
        raise ValidationError(f"A stack has at most {_MOST} tags, not {len(found)}.", VALUE_ERROR)
    tags = {}
    for place, member in found.items():
        for part in ("Key", "Value"):
            if part not in member:
                message = f"The request needs the parameter Tags.member.{place}.{part}."
                raise ValidationError(message, MISSING_PARAMETER)
        key, value = member["Key"], member["Value"]
        _check(key, value)
        if key in tags:
            raise ValidationError(f'The tag "{key}" is given twice.', VALUE_ERROR)
        tags[key] = f"{key}={value}"
    return tuple(tags.values())


def _check(key: str, value: str) -> None:
    if not key or len(key) > _LONGEST_KEY or len(value) > _LONGEST_VALUE:
        message = (
            f"A tag has a key of 1 to {_LONGEST_KEY} and a value of up to {_LONGEST_VALUE}"
            f' characters; "{key:.150}" has not.'
        )
        raise ValidationError(message, VALUE_ERROR)
    if "=" in key or "," in key + value:
        message = (
            f'The tag "{key}" has a comma, or "=" in its key: the stack keeps tags as'
            " key=value, and lists of them are separated by commas."
        )
        raise ValidationError(message, VALUE_ERROR)


def shown_tags(tags: Iterable[str]) -> list[dict[str, str]]:
    """Return the tags of a stack with keys and values; a tag without ``=`` has no value."""
    parts = (tag.partition("=") for tag in tags)
    return [{"Key": key, "Value": value} for key, _, value in parts]
