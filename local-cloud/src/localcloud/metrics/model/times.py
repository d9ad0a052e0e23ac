"""Moments and lengths of time, as clients write them."""

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from localcloud.metrics.errors import invalid

_LENGTH = re.compile(r"(?:(\d+) days?, )?(\d+):(\d\d):(\d\d)(?:\.\d+)?")
_TERM = re.compile(r"([\d.]{1,20})\s*([a-z]{1,12})")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MOST_SECONDS = 100 * 366 * 86400


def moment(value: Any, now: datetime) -> float:
    """Return a moment in seconds: a number, an ISO text, ``now`` or ``-10 minutes``.

    Raises BadRequestError.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _bounded(float(value), value)
    text = str(value).strip()
    try:
        if text == "now":
            return now.timestamp()
        if text.startswith("-"):
            return now.timestamp() - length(text[1:])
        if re.fullmatch(r"\d{1,15}(\.\d{1,9})?", text):
            return _bounded(float(text), value)
        found = datetime.fromisoformat(text.replace(" ", "T", 1))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise invalid(f"'{text[:100]}' is not a time") from error


def length(value: Any) -> float:
    """Return a length of time in seconds: a number, ``0:05:00`` or ``5 minutes``.

    Raises BadRequestError.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _positive(float(value), value)
    text = str(value).strip().lower()[:100]
    found = _LENGTH.fullmatch(text)
    if found is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return _positive(((days * 24 + hours) * 60 + minutes) * 60.0 + seconds, value)
    try:
        return _positive(float(text), value)
    except ValueError:
        found = _TERM.fullmatch(text)
    if found is None or found[2][0] not in _UNITS or found[1].count(".") > 1:
        raise invalid(f"'{text}' is not a length of time")
    return _positive(float(found[1]) * _UNITS[found[2][0]], value)


def _positive(seconds: float, value: Any) -> float:
    if seconds <= 0:
        raise invalid(f"a length of time must be positive, not {value!r}")
    return _bounded(seconds, value)


def _bounded(seconds: float, value: Any) -> float:
    if not math.isfinite(seconds) or abs(seconds) > _MOST_SECONDS:
        raise invalid(f"{str(value)[:100]} is too far away")
    return seconds


def shown(seconds: float) -> str:
    """Return a moment as answers have it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def shown_length(seconds: float) -> str:
    """Return a length of time as answers have it."""
    return str(timedelta(seconds=seconds))
