"""Regular expressions that users write, and the time that those of one document may take.

A pattern such as ``(a|aa)+$`` can keep a matcher busy for hours on thirty characters, and
``((a{1000}){1000}){1000}`` takes all memory before it has seen any. Users give both pattern and
text; helpers compile and match.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stoker.schema.helpers import NO_HELPERS, Helpers, NotComputed

MAX_SECONDS = 0.5
"""Of one match."""
MAX_TOGETHER = 1.0
"""Seconds of all patterns of a document."""
_FREE = 0.0001
"""Seconds of each use of a pattern that do not count."""


@dataclass(slots=True)
class PatternBudget:
    """Seconds that the patterns of one document may take together, each match a bit for nothing."""

    helpers: Helpers = NO_HELPERS
    seconds: float = MAX_TOGETHER

    def compile(self, pattern: str) -> None:
        """Check the form of a pattern. Raises :class:`stoker.schema.helpers.NotComputed`."""
        self._computed(self.helpers.compile, pattern)

    def fits(self, pattern: str, text: str) -> bool:
        """Whether a pattern matches a text from start to end.

        Raises :class:`stoker.schema.helpers.NotComputed`.
        """
        [fits] = self._computed(self.helpers.fit, pattern, [text])
        return bool(fits)

    def _computed(self, job: Callable[..., tuple[Any, float]], *arguments: Any) -> Any:
        """What a helper gives, within the time that is left."""
        if self.seconds <= 0:
            raise NotComputed(
                "the patterns of this document take longer together than they may"
                f" ({MAX_TOGETHER:g} s)"
            )
        spent = 0.0
        try:
            found, spent = job(*arguments, min(MAX_SECONDS, self.seconds))
        except NotComputed as error:
            spent = error.seconds
            raise
        finally:
            self.seconds -= max(0.0, spent - _FREE)
        return found
