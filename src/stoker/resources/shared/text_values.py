"""Maps whose values a service stores as text, such as metadata and extra specs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def as_texts(values: Mapping[Any, Any] | None) -> dict[str, str]:
    """Return the map with text values. Other values are written as JSON.

    Programs in a server parse its metadata as JSON, as they do with Heat.
    """
    return {str(key): _text(value) for key, value in (values or {}).items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
