"""Bounds on what a template may grow to: functions and references can multiply without end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoker.template.functions.failure import bad_value

MAX_TEXT = 8 * 1024 * 1024
"""Characters of a text that a function gives."""
MAX_VALUES = 1_000_000
"""Entries and texts in one value, each counted as often as it occurs."""
MAX_CHARACTERS = 32 * 1024 * 1024
"""Characters of all texts in one value."""


def check_size(value: Any) -> None:
    """Raise :class:`Failure` for a value that is larger than any may be."""
    values = characters = 0
    pending = [value]
    while pending:
        item = pending.pop()
        values += 1
        if isinstance(item, str):
            characters += len(item)
        elif isinstance(item, Mapping):
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        if values + len(pending) > MAX_VALUES or characters > MAX_CHARACTERS:
            bad_value("the value is too large", code="too-large")


def check_text(size: int) -> None:
    """Raise :class:`Failure` for a text of more characters than a function may give."""
    if size > MAX_TEXT:
        bad_value(f"the text would have {size} characters; at most {MAX_TEXT} are allowed")


@dataclass(slots=True)
class Allowance:
    """Seconds that the slow calls of one evaluation may take together."""

    seconds: float = 2.0
    free: float = 0.05
    """Seconds of each call that do not count."""

    def take(self, seconds: float) -> None:
        """Count a call that has taken so long."""
        self.seconds -= max(0.0, seconds - self.free)
