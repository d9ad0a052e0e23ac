"""Values: frozen, so that a change of one is another one.

A value is a ``msgspec.Struct``: it is declared and copied in a hundredth of the time that a
dataclass takes. One that hides a field from its text, or computes a value once, is a dataclass.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

if TYPE_CHECKING:
    from dataclasses import replace as replace  # mypy knows for it which fields there are
else:

    def replace(value: Any, /, **changes: Any) -> Any:
        """A copy of a value in which some fields are others."""
        kind = structs if isinstance(value, Struct) else dataclasses
        return kind.replace(value, **changes)
