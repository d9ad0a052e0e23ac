"""Functions on maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.words import kind_of
from stoker.template.functions.failure import bad_value, check_kind, known
from stoker.template.functions.lists import parts_of
from stoker.template.functions.scope import Scope


def map_merge(arguments: Any, scope: Scope) -> Any:
    """Return maps merged into one; of equal keys the last wins."""
    words = "the arguments are a list of maps", "only maps can be merged"
    maps = parts_of(arguments, scope, Mapping, *words)
    return {key: value for part in maps for key, value in part.items()}


def map_replace(arguments: Any, scope: Scope) -> Any:
    """Return a map with some keys and values replaced."""
    values = known(scope.resolve(arguments))
    if not isinstance(values, list) or len(values) != 2:
        bad_value("the arguments are [map, {keys: map, values: map}]")
    mapping, replacements = _map(values[0], (0,)), _map(values[1], (1,))
    for key in replacements:
        if key not in ("keys", "values"):
            bad_value('only "keys" and "values" can be replaced', (1, key))
    keys, others = (_map(replacements.get(key), (1, key)) for key in ("keys", "values"))
    return _replaced(mapping, keys, others)


def _map(value: Any, path: tuple[int | str, ...]) -> Any:
    """Return a map; an empty one for null."""
    if value is None:
        return {}
    check_kind(Mapping, value, "this is a map", path)
    return value


def _replaced(
    mapping: Mapping[Any, Any], keys: Mapping[Any, Any], values: Mapping[Any, Any]
) -> dict[Any, Any]:
    keys = {key: new for key, new in keys.items() if new is not None}
    values = {value: new for value, new in values.items() if new is not None}
    result: dict[Any, Any] = {}
    for key, value in mapping.items():
        new = keys.get(key, key)
        if isinstance(new, list | dict):
            bad_value(f"a key cannot be {kind_of(new)}", (1, "keys", key))
        if new != key and new in mapping:
            bad_value(f'the key "{new}" is in the map already', (1, "keys", key))
        if new in result:
            bad_value(f'two keys would become "{new}"', (1, "keys", key))
        result[new] = value if isinstance(value, list | dict) else values.get(value, value)
    return result
