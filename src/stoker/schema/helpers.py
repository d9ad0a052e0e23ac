"""Evaluation of users' expressions and patterns, outside of this process.

Templates come from anyone, and both languages let a few characters ask for work without end. The
template language says what it needs; who implements it holds the limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol


class NotComputed(Exception):
    """There is no result; the text says why, in words that follow "…: "."""

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.seconds = seconds
        """Computing time that was spent nevertheless."""


class Malformed(NotComputed):
    """The expression or the pattern is not valid, whatever the values are."""


class Helpers(Protocol):
    """Compute within limits of time and memory that nothing can get past.

    Every method gives its result with the seconds of computing that it took, and raises
    :class:`Malformed` and :class:`NotComputed`. All block.
    """

    def parse(self, expression: str, seconds: float) -> tuple[None, float]:
        """Check the form of an expression."""

    def evaluate(self, expression: str, data: Any, seconds: float) -> tuple[Any, float]:
        """The value of an expression over data."""

    def compile(self, pattern: str, seconds: float) -> tuple[None, float]:
        """Check the form of a pattern."""

    def fit(self, pattern: str, texts: Sequence[str], seconds: float) -> tuple[list[bool], float]:
        """Of each text whether a pattern matches it from start to end."""


class NoHelpers:
    """For evaluations that need none."""

    def _refuse(self, *job: Any) -> NoReturn:
        raise NotComputed("this program has no helpers to compute it")

    parse = evaluate = compile = fit = _refuse


NO_HELPERS = NoHelpers()
