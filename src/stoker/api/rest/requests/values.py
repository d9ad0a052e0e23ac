"""Parses single values of queries and bodies strictly, with the same error texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.api.rest.faults import bad_request

LARGEST = 2**31 - 1
_LONGEST_NUMBER = len(str(LARGEST))
_INTEGER = re.compile(r"(0|-?[1-9][0-9]*)\Z")
_FLAGS = {"true": True, "false": False}


def flag(name: str, value: Any) -> bool:
    """Return a boolean: ``true`` or ``false`` in any case, or a JSON boolean.

    Rejects other values (400).
    """
    found = _FLAGS.get(str(value).lower()) if isinstance(value, str | bool) else None
    if found is None:
        raise bad_request(
            f'Unrecognized value "{value}" for "{name}", acceptable values are: true, false.'
        )
    return found


def whole_number(name: str, value: Any) -> int:
    """Return an integer from 0 to 2147483647, also given as text. Rejects others (400)."""
    text = str(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or not _INTEGER.match(text):
        raise bad_request(f"Only integer is acceptable by '{name}'. It is {value!r}.")
    if len(text) > _LONGEST_NUMBER or not 0 <= int(text) <= LARGEST:
        raise bad_request(
            f"Value '{text:.40}' is invalid for '{name}' which only accepts non-negative integer"
            f" up to {LARGEST}."
        )
    return int(text)


def optional_text(body: Mapping[str, Any], name: str) -> str | None:
    """Return a text of the body, or None. Rejects other types (400)."""
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise bad_request(f"{name} must be a string, not {type(value).__name__}.")
    if value is not None and "\0" in value:
        raise bad_request(f"{name} contains a NUL character.")
    return value
