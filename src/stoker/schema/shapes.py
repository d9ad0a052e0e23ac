"""Advice on values that do not have the shape of their property."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.schema.properties import Property, Type

_WITH_UNIT = re.compile(r"\d+(\.\d+)?\s*[A-Za-z%]+")
_LIST_OF_ONE = 'put it into [ ], or after "- ", to make a list of one'
_TEXT_OF = (
    "this is the text of a {}: leave out the quotes around it, or declare the parameter that it"
    " comes from as json"
)


def advice_on(value: Any, declared: Property) -> str | None:
    """Return how to correct a value of the wrong type, without quoting its contents."""
    match declared.type:
        case Type.LIST:
            return _as_list(value, declared.items)
        case Type.MAP:
            return _as_map(value)
        case Type.STRING | Type.INTEGER | Type.NUMBER | Type.BOOLEAN:
            return _as_scalar(value, declared.type)
        case Type.ANY:
            return None


def _as_list(value: Any, items: Property | None) -> str | None:
    if _is_between(value, "[", "]"):
        return _TEXT_OF.format("list")
    if isinstance(value, Mapping):
        # others may be calls that are misspelt
        known = (items and items.entries) or {}
        return _LIST_OF_ONE if any(key in known for key in value) else None
    if items is not None and items.type not in (Type.STRING, Type.INTEGER, Type.ANY):
        return None
    if isinstance(value, str) and "," in value:
        return (
            "write what is between the commas as entries of a list, [first, second], or declare the"
            " parameter that it comes from as comma_delimited_list"
        )
    return _LIST_OF_ONE


def _as_map(value: Any) -> str | None:
    if _is_between(value, "{", "}"):
        return _TEXT_OF.format("map")
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        return None
    keys = [key for each in value for key in each]
    if not keys or len(set(keys)) < len(keys):
        return None
    return 'leave out the "- " or [ ]: only lists have them'


def _is_between(value: Any, start: str, end: str) -> bool:
    text = value.strip() if isinstance(value, str) else ""
    return text.startswith(start) and text.endswith(end)


def _as_scalar(value: Any, target: Type) -> str | None:
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | Mapping):
        return "the list has one entry: give that alone"
    if target is Type.STRING and isinstance(value, Mapping) and len(value) > 1:
        return 'if this is meant as text of several lines, put "|" after the key'
    is_number = target is Type.INTEGER or target is Type.NUMBER
    if is_number and isinstance(value, str) and _WITH_UNIT.fullmatch(value.strip()):
        return "write the number alone, without a unit"
    return None
