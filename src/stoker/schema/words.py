"""Values in words, for messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.kernel.diagnostics import shortened
from stoker.schema.unknown import Unknown

_MAX_SHOWN = 80
_KINDS: tuple[tuple[Any, str], ...] = (
    (str, "text"),
    (bool, "a boolean"),
    (int | float, "a number"),
    (Mapping, "a map"),
    (list | tuple, "a list"),
    (Unknown, "a value that is not known yet"),
)


def kind_of(value: Any) -> str:
    """Return the kind of a value: ``a list``, ``text``, ``nothing``."""
    if value is None:
        return "nothing"
    for kind, word in _KINDS:
        if isinstance(value, kind):
            return word
    return f"a {type(value).__name__}"


def shown(value: Any) -> str:
    """A value as JSON text, shortened."""
    return shortened(json.dumps(value, ensure_ascii=False, default=str), _MAX_SHOWN)
