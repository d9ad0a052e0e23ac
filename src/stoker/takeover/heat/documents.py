"""Values in Heat's columns: times, and JSON documents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from stoker.kernel.json.text import loads
from stoker.takeover.errors import UnreadableValueError


def time_of(value: Any) -> float | None:
    """Return a time in seconds since the epoch; Heat stores UTC without a zone."""
    if value is None:
        return None
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return moment.replace(tzinfo=UTC).timestamp()


def document_of(value: Any, place: str) -> Any:
    """Return the content of a JSON column; ``place`` names it in the error."""
    if value is None:
        return None
    if not isinstance(value, str | bytes):
        return value
    try:
        return loads(value if isinstance(value, str) else value.decode())
    except ValueError:
        raise UnreadableValueError(f"{place}: the value is not JSON") from None


def map_of(value: Any, place: str) -> Mapping[str, Any]:
    """Return the map in a JSON column; an empty one for NULL."""
    found = document_of(value, place)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise UnreadableValueError(f"{place}: the value is not a map")
    return found
