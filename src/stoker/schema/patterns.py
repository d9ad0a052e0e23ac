"""Regular expressions that users write, applied within a time limit.

A pattern such as ``(a|aa)+$`` can keep a matcher busy for hours on thirty characters. Users give
both pattern and text, so every match has a time limit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import regex

MAX_SECONDS = 0.5


class InvalidPattern(ValueError):
    """The pattern is not a regular expression; the text says why."""


@lru_cache(maxsize=1024)
def compiled(pattern: str, flags: int = 0) -> Any:
    """The compiled pattern. Raises :class:`InvalidPattern`.

    Its methods take ``timeout`` and then raise :class:`TimeoutError`.
    """
    try:
        return regex.compile(pattern, flags | regex.VERSION0)
    except (regex.error, OverflowError, RecursionError) as error:
        raise InvalidPattern(str(error)) from None


def fits(pattern: str, text: str) -> bool:
    """Whether a pattern matches a text from start to end. Raises :class:`TimeoutError`."""
    return compiled(pattern).fullmatch(text, timeout=MAX_SECONDS) is not None
