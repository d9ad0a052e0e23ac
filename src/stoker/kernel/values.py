"""Frozen values: a change is a new value.

A value is a ``msgspec.Struct``: declaring and copying it takes a hundredth of the time of a
dataclass. Values that hide a field from their text, or compute a value once, are dataclasses.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

if TYPE_CHECKING:
    from dataclasses import replace as replace  # mypy checks the names of fields for this function
else:

    def replace(value: Any, /, **changes: Any) -> Any:
        """Return a copy of a value with other values of some fields."""
        kind = structs if isinstance(value, Struct) else dataclasses
        return kind.replace(value, **changes)
