"""Values in sets, so that looking for equal values among many takes one look for each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any


def frozen(value: Any) -> Hashable:
    """Stands for a value in sets: equal for equal values, and for these alone."""
    if isinstance(value, list):
        return (list, *map(frozen, value))
    if isinstance(value, Mapping):
        return (dict, frozenset((key, frozen(item)) for key, item in value.items()))
    key: Hashable = value
    return key
