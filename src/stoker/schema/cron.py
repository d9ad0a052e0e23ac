"""Cron expressions: whether one is well formed."""

from __future__ import annotations

import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)
_ALIASES = frozenset(
    {"@annually", "@yearly", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
_ITEM = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d+))?")


def cron_fault(expression: str) -> str | None:
    """Return the fault of a cron expression of five (or, with seconds, six) fields, or None."""
    text = expression.strip().lower()
    if text in _ALIASES:
        return None
    fields = text.split()
    if len(fields) not in {5, 6}:
        return (
            f"{expression!r} has {len(fields)} fields; a cron expression has 5: "
            "minute, hour, day of month, month, day of week"
        )
    for field, (title, low, high, names) in zip(fields, _FIELDS, strict=False):
        for item in field.split(","):
            if not _item_fits(item, low, high, names):
                return f"{item!r} is not a {title} ({low} to {high}), in {expression!r}"
    return None


def _item_fits(item: str, low: int, high: int, names: tuple[str, ...]) -> bool:
    if item in {"?", "l"}:
        return True
    match = _ITEM.fullmatch(item)
    if match is None:
        return False
    star, first, last, step = match.groups()
    if step is not None and int(step) == 0:
        return False
    if star:
        return True
    bounds = [_number(text, low, names) for text in (first, last) if text is not None]
    return all(bound is not None and low <= bound <= high for bound in bounds)


def _number(text: str, low: int, names: tuple[str, ...]) -> int | None:
    if text.isdigit():
        return int(text)
    return names.index(text) + low if text in names else None
