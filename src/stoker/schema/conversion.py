"""Values into the types that are declared for them. Pure; a value that does not fit is refused.

Every function raises :class:`TypeMismatchError` with a message in words. Values that are not
known yet never come here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.kernel.json.faults import fault_of
from stoker.schema.words import shown

MAX_DIGITS = 4000


class TypeMismatchError(ValueError):
    """A value does not have, and cannot be given, the type that is declared for it."""


def to_number(value: Any) -> int | float:
    """A number; text is read as one. Booleans stay as they are."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and len(value) <= MAX_DIGITS:
        for read in (int, float):
            try:
                return read(value)
            except ValueError:
                continue
    raise TypeMismatchError(f"{shown(value)} is not a number")


def to_integer(value: Any) -> int:
    """A whole number; text is read as one, and a fraction is cut off."""
    if isinstance(value, int | float):
        try:
            return int(value)
        except (ValueError, OverflowError):
            raise TypeMismatchError(f"Value '{value}' is not an integer") from None
    if isinstance(value, str) and len(value) <= MAX_DIGITS:
        try:
            return int(value)
        except ValueError:
            pass
    raise TypeMismatchError(f"Value '{shown(value).strip(chr(34))}' is not an integer")


def to_boolean(value: Any) -> bool:
    """True or false; the words may be text, in any case."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    raise TypeMismatchError(f"{shown(value)} is not a valid boolean: it is neither true nor false")


def to_string(value: Any) -> str:
    """Text; whole numbers and booleans are written out."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    raise TypeMismatchError(f"{shown(value)} is not a string")


def to_list(value: Any) -> list[Any]:
    """A list."""
    if isinstance(value, list):
        return value
    raise TypeMismatchError(f"{shown(value)} is not a list")


def to_list_parameter(value: Any) -> list[Any]:
    """A list, or text with commas."""
    if isinstance(value, str):
        return value.split(",") if value else []
    return to_list(value)


def to_map(value: Any) -> Mapping[str, Any]:
    """A map."""
    if isinstance(value, Mapping):
        return value
    raise TypeMismatchError(f"{shown(value)} is not a map")


def to_json_parameter(value: Any) -> Any:
    """Return a map, a list, or the value of a JSON text."""
    if isinstance(value, list) or value == "":
        return value
    if not isinstance(value, str):
        return to_map(value)
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise TypeMismatchError(f"{shown(value)} is not JSON: {fault_of(error)}") from None
