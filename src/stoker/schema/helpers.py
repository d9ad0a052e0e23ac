"""Evaluation of users' expressions and patterns, outside of this process.

Templates come from anyone, and both languages let a few characters ask for work without end: a
pattern such as ``(a|aa)+$`` can keep a matcher busy for hours on thirty characters, and
``((a{1000}){1000}){1000}`` takes all memory before it reads any. The template language defines this
interface; its implementation enforces the limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

# Words in expressions that may call a function whose value changes.
_CHANGING = re.compile(r"\b(?:now|random|localtz|call)\b")


def may_change(expression: str) -> bool:
    """Return whether an expression may have another value each time, with the same data."""
    return _CHANGING.search(expression) is not None


class ComputationError(Exception):
    """There is no result; the text says why, in words that follow "…: "."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.seconds = seconds  # computing time that was spent nevertheless


class MalformedExpressionError(ComputationError):
    """The expression or the pattern is not valid, whatever the values are."""


class Helpers(Protocol):
    """Compute within limits of time and memory that nothing can get past.

    Every method gives its result with the seconds of computing that it took, and raises
    :class:`MalformedExpressionError` and :class:`ComputationError`. All block.
    """

    def parse(self, expression: str, seconds: float) -> tuple[None, float]:
        """Check the form of an expression."""

    def evaluate(self, expression: str, data: Any, seconds: float) -> tuple[Any, float]:
        """The value of an expression over data."""

    def compile(self, pattern: str, seconds: float) -> tuple[None, float]:
        """Check the form of a pattern."""

    def fit(self, pattern: str, texts: Sequence[str], seconds: float) -> tuple[list[bool], float]:
        """Return for each text whether a pattern matches it from start to end."""


class NoHelpers:
    """For evaluations that need none."""

    def _refuse(self, *job: Any) -> NoReturn:
        raise ComputationError("this program has no helpers to compute it")

    parse = evaluate = compile = fit = _refuse


NO_HELPERS = NoHelpers()


class OwnPatterns(NoHelpers):
    """Matches the patterns of resource types in this process: they are trusted, texts short."""

    def fit(  # type: ignore[override]
        self, pattern: str, texts: Sequence[str], seconds: float
    ) -> tuple[list[bool], float]:
        """Return for each text whether a pattern matches it; a text that is too long never does."""
        matches = re.compile(pattern).fullmatch
        return [len(text) <= _LONGEST and matches(text) is not None for text in texts], 0.0


_LONGEST = 1000  # characters of a text that is matched with a pattern of a resource type

MAX_SECONDS = 0.5  # per match
MAX_TOGETHER = 1.0  # seconds for all patterns of a document
_FREE = 0.0001  # seconds of each use of a pattern that do not count


@dataclass(slots=True)
class PatternBudget:
    """Seconds that the patterns of one document may take together, each match a bit for nothing."""

    helpers: Helpers = NO_HELPERS
    seconds: float = MAX_TOGETHER

    def compile(self, pattern: str) -> None:
        """Check the form of a pattern. Raises :class:`ComputationError`."""
        self._computed(self.helpers.compile, pattern)

    def fits(self, pattern: str, text: str) -> bool:
        """Return whether a pattern matches a text from start to end.

        Raises :class:`ComputationError`.
        """
        [fits] = self._computed(self.helpers.fit, pattern, [text])
        return bool(fits)

    def _computed(self, job: Callable[..., tuple[Any, float]], *arguments: Any) -> Any:
        """Return the result of a helper within the remaining time."""
        if self.seconds <= 0:
            raise ComputationError(
                "the patterns of this document take longer together than they may"
                f" ({MAX_TOGETHER:g} s)"
            )
        spent = 0.0
        try:
            found, spent = job(*arguments, min(MAX_SECONDS, self.seconds))
        except ComputationError as error:
            spent = error.seconds
            raise
        finally:
            self.seconds -= max(0.0, spent - _FREE)
        return found
