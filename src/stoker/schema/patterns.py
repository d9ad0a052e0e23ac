"""Regular expressions that users write, applied within a time limit.

A pattern such as ``(a|aa)+$`` can keep a matcher busy for hours on thirty characters. Users give
both pattern and text, so every match has a time limit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import regex

MAX_SECONDS = 0.5
MAX_PATTERN = 4096
"""Characters of a pattern."""
_FREE = 0.0001
"""Seconds of each use of a pattern that do not count."""


class InvalidPattern(ValueError):
    """The pattern is not a regular expression; the text says why."""


@lru_cache(maxsize=1024)
def compiled(pattern: str, flags: int = 0) -> Any:
    """The compiled pattern. Raises :class:`InvalidPattern`.

    Its methods take ``timeout`` and then raise :class:`TimeoutError`.
    """
    if len(pattern) > MAX_PATTERN:
        raise InvalidPattern(f"it has {len(pattern)} characters; at most {MAX_PATTERN} are read")
    try:
        return regex.compile(pattern, flags | regex.VERSION0)
    except (regex.error, OverflowError, RecursionError) as error:
        raise InvalidPattern(str(error)) from None


@dataclass(slots=True)
class Effort:
    """Seconds that the patterns of one document may take together, each match a bit for nothing."""

    seconds: float = 1.0

    def compile(self, pattern: str) -> None:
        """Compile a pattern for later. Raises :class:`InvalidPattern`."""
        if self.seconds <= 0:
            raise InvalidPattern("the patterns of this document take too long together")
        begin = time.thread_time()
        try:
            compiled(pattern)
        finally:
            self._spend(begin)

    def fits(self, pattern: str, text: str) -> bool:
        """Whether a pattern matches a text from start to end. Raises :class:`TimeoutError`."""
        if self.seconds <= 0:
            raise TimeoutError("the patterns of this document take too long together")
        begin = time.thread_time()
        try:
            timeout = min(MAX_SECONDS, self.seconds)
            return compiled(pattern).fullmatch(text, timeout=timeout) is not None
        finally:
            self._spend(begin)

    def _spend(self, begin: float) -> None:
        self.seconds -= max(0.0, time.thread_time() - begin - _FREE)
