"""Descriptions of values, for messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.unknown import Unknown

_KINDS: tuple[tuple[Any, str], ...] = (
    (str, "text"),
    (bool, "a boolean"),
    (int | float, "a number"),
    (Mapping, "a map"),
    (list | tuple, "a list"),
    (Unknown, "a value that is not known yet"),
)


def kind_of(value: Any) -> str:
    """What a value is, in words: ``a list``, ``text``, ``nothing``."""
    if value is None:
        return "nothing"
    for kind, word in _KINDS:
        if isinstance(value, kind):
            return word
    return f"a {type(value).__name__}"
