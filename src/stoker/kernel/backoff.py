"""Pauses between the attempts of work that is repeated until it succeeds."""

from collections.abc import Iterator
from itertools import count

from msgspec import Struct


class Backoff(Struct, frozen=True):
    """Pauses that grow after each attempt, up to a limit."""

    first_seconds: float
    longest_seconds: float
    growth: float = 2.0

    def pause(self, attempt: int) -> float:
        """Return the seconds to wait after an attempt; the first attempt is 0."""
        # A float has no power of thousands of attempts.
        return min(self.first_seconds * self.growth ** min(attempt, 100), self.longest_seconds)

    def __iter__(self) -> Iterator[float]:
        return map(self.pause, count())
