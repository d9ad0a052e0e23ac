"""A clock that is passed as a value, so that a simulation can use virtual time."""

import time
from typing import Protocol


class Clock(Protocol):
    """A source of time."""

    def now(self) -> float:
        """Seconds since the epoch."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()


def isoformat(moment: float) -> str:
    """A moment (seconds since the epoch) in the API's notation, ``2026-01-31T12:00:00Z``."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def precise_isoformat(moment: float) -> str:
    """A moment with microseconds, ``2026-01-31T12:00:00.000000Z``."""
    whole, fraction = divmod(round(moment * 1_000_000), 1_000_000)
    return f"{isoformat(whole)[:-1]}.{fraction:06d}Z"
