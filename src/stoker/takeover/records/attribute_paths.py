"""Attributes that Heat has stored because a template refers to them.

Heat stores the value of a reference under its whole path: ``tuple:('fixed_ips', 0, 'ip_address')``.
Stoker stores whole attributes, and functions follow the path into them. So the value is put into
maps and lists that have only this path.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.schema.resource_type import GathersAttributes, ResourceType, can
from stoker.template.functions.references import MEMBER

_TUPLE = "tuple:"


def whole_attributes(stored: Mapping[str, Any], type_: ResourceType | None) -> dict[str, Any]:
    """Return attributes by name, from values by path."""
    found: dict[str, Any] = {}
    for key, value in stored.items():
        if not key.startswith(_TUPLE):
            found[key] = value
            continue
        first, *rest = ast.literal_eval(key.removeprefix(_TUPLE))
        name, holder = _attribute(str(first), rest, value, type_)
        found[name] = _merged(found.get(name), holder)
    return found


def _attribute(
    first: str, rest: Sequence[Any], value: Any, type_: ResourceType | None
) -> tuple[str, Any]:
    """Return the attribute that has a path, and its content with this value."""
    if first.startswith(MEMBER) and rest:
        return f"{first}.{rest[0]}", _around(rest[1:], value)
    if type_ is not None and can(type_, GathersAttributes) and isinstance(value, list):
        gathered = type_.gathered(first, list(rest))
        if gathered is not None:
            name, inner = gathered
            return name, [_around(inner, each) for each in value]
    return first, _around(rest, value)


def _around(path: Sequence[Any], value: Any) -> Any:
    """Return maps and lists with the value at a path."""
    for part in reversed(path):
        value = [*([None] * part), value] if isinstance(part, int) else {part: value}
    return value


def _merged(one: Any, other: Any) -> Any:
    """Return the content of both."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return {key: _merged(one.get(key), other.get(key)) for key in {**one, **other}}
    if isinstance(one, list) and isinstance(other, list):
        size = max(len(one), len(other))
        pairs = zip(*([*each, *[None] * (size - len(each))] for each in (one, other)), strict=True)
        return [_merged(*pair) for pair in pairs]
    return one if other is None else other
