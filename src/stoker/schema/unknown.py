"""A value that is not known yet: an attribute of a resource that does not exist so far.

Functions pass it on and the planner compares it like any other value. Only execution, which waits
until everything that a definition refers to exists, requires that none is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Unknown(Struct, frozen=True, gc=False):
    """Stands for a value that will come from the resources in ``sources``."""

    sources: frozenset[str]

    def __or__(self, other: Unknown) -> Unknown:
        if other.sources <= self.sources:
            return self
        return Unknown(self.sources | other.sources)

    def __str__(self) -> str:
        return f"(known after {', '.join(sorted(self.sources))})"


def unknown_in(value: Any) -> Unknown | None:
    """All that is unknown inside a value, merged into one, or None if all of it is known."""
    # Most values are plain or empty, and walking them takes three times as long.
    if type(value) in _PLAIN or not value:
        return None
    found: Unknown | None = None
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind in _PLAIN:
            continue
        if kind is list or kind is tuple:
            pending.extend(item)
        elif kind is Unknown:
            found = item if found is None else found | item
        elif kind is dict or isinstance(item, Mapping):
            pending.extend(item.values())
    return found


_PLAIN = frozenset({str, int, float, bool, type(None)})
