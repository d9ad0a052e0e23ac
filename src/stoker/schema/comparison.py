"""Properties that an update changes, compared by effective value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.properties import Property


def changed_properties(
    schema: Mapping[str, Property], before: Mapping[str, Any], after: Mapping[str, Any]
) -> frozenset[str]:
    """Return the names of the properties that differ between two sets of checked properties.

    A value that is absent on one side counts as the declared default. So neither an explicit
    default nor a new property of the type looks like a change.
    """
    if before == after:
        return frozenset()
    return frozenset(
        name
        for name in before.keys() | after.keys()
        if _effective(schema, before, name) != _effective(schema, after, name)
    )


def _effective(schema: Mapping[str, Property], values: Mapping[str, Any], name: str) -> Any:
    value = values.get(name)
    if value is None and name in schema:
        value = schema[name].default
    return _without_nothing(value)


def _without_nothing(value: Any) -> Any:
    """The value without entries of maps that are None: absent and None are the same."""
    if isinstance(value, Mapping):
        return {key: _without_nothing(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_nothing(item) for item in value]
    return value
