"""How many calls a service is given at once: grown while it answers well, cut when it does not.

Pure bookkeeping on an injected clock, so that the rule itself can be tested. Threads and loops
are :mod:`stoker.clouds.workers`' business.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from stoker.kernel.clock import Clock

_OVERLOADED = frozenset({409, 429, 503})
_DECREASE = 0.5
_SMOOTHING = 0.1
_SLOW = 4.0
_ALWAYS_FAST = 0.25
_BASE_DRIFT = 1.001


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a window."""

    start: float = 8.0
    floor: float = 1.0
    ceiling: float = 64.0
    hold: float = 1.0
    """Seconds after a cut in which there is no second one: the answers belong to one overload."""


class Window:
    """The adaptive window of one service endpoint. Safe to use from many threads."""

    def __init__(self, clock: Clock, limits: Limits | None = None) -> None:
        self._clock = clock
        self._limits = limits or Limits()
        self._size = self._limits.start
        self._under_way = 0
        self._closed_until = 0.0
        self._cut_at = float("-inf")
        self._latency = 0.0
        self._base = 0.0
        self._lock = Lock()

    @property
    def size(self) -> float:
        """How many calls may be under way at once."""
        return self._size

    @property
    def under_way(self) -> int:
        """How many calls are under way."""
        return self._under_way

    def enter(self) -> bool:
        """Take a place; False when there is none now."""
        with self._lock:
            if self._under_way >= int(self._size) or self._clock.now() < self._closed_until:
                return False
            self._under_way += 1
            return True

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self._under_way -= 1

    def pause(self) -> float:
        """Seconds until the service may be called again after it asked for a pause; else 0."""
        return max(0.0, self._closed_until - self._clock.now())

    def observe(self, status: int, seconds: float, retry_after: float | None = None) -> None:
        """Learn from one answer: its status, its latency, and the pause that it asks for."""
        with self._lock:
            now = self._clock.now()
            if retry_after and status in _OVERLOADED:
                self._closed_until = max(self._closed_until, now + retry_after)
            if status in _OVERLOADED or self._is_slow(seconds):
                self._cut(now)
            elif self._under_way >= int(self._size) - 1:
                self._size = min(self._limits.ceiling, self._size + 1.0 / self._size)

    def _is_slow(self, seconds: float) -> bool:
        self._latency += (seconds - self._latency) * (_SMOOTHING if self._latency else 1.0)
        self._base = min(self._base * _BASE_DRIFT, seconds) if self._base else seconds
        return self._latency > max(_ALWAYS_FAST, _SLOW * self._base)

    def _cut(self, now: float) -> None:
        if now - self._cut_at >= self._limits.hold:
            self._size = max(self._limits.floor, self._size * _DECREASE)
            self._cut_at = now
