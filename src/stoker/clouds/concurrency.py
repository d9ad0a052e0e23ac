"""Limits the concurrent calls to a service.

The status and duration of each call go in; the number of allowed calls comes out. The limit grows
while the service responds well, and is halved when it is overloaded. A service is overloaded if it
says so (429, 503), or if calls of one kind take much longer than earlier calls of this kind. A 409
is not overload unless it asks for a pause: most conflicts are about objects in use.

This is pure bookkeeping on an injected clock. Threads and queues are in
:mod:`stoker.clouds.workers`. Tested by tests/clouds.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from msgspec import Struct

from stoker.kernel.clock import Clock

_OVERLOADED = frozenset({429, 503})
_CONFLICT = 409
_ERRORS = 400
_DECREASE = 0.5
_SLOW = 4.0
_ALWAYS_FAST = 0.25
_RECENT = 0.1  # Weight of a response in the recent mean.
# Weights of faster and slower responses in the usual duration. It falls quickly and rises slowly,
# so that a service which stays slow is eventually measured by its new speed.
_FALL, _RISE = 0.1, 0.0125
_KINDS = 256


class Bounds(Struct, frozen=True):
    """Start value and bounds of a limit."""

    start: float = 8.0
    floor: float = 1.0
    # Lower bound after slow responses without errors, which may have other causes than load.
    slow_floor: float = 4.0
    ceiling: float = 64.0
    # Seconds after a cut without another one: the responses in flight belong to one overload.
    hold: float = 1.0


@dataclass(slots=True)
class _Speed:
    """Durations of calls of one kind."""

    usual: float
    recent: float

    def rises(self, seconds: float) -> bool:
        """Record a duration; return whether recent calls take much longer than usual."""
        self.recent += (seconds - self.recent) * _RECENT
        weight = _FALL if seconds < self.usual else _RISE
        self.usual += (seconds - self.usual) * weight
        return self.recent > max(_ALWAYS_FAST, _SLOW * self.usual)


class ConcurrencyLimit:
    """The adaptive limit of one service endpoint. Thread-safe."""

    def __init__(self, clock: Clock, bounds: Bounds | None = None) -> None:
        self._clock = clock
        self._bounds = bounds or Bounds()
        self._size = self._bounds.start
        self._among = 1
        self._under_way = 0
        self._closed_until = 0.0
        self._cut_at = float("-inf")
        self._speeds: dict[str, _Speed] = {}
        self._lock = Lock()

    @property
    def size(self) -> float:
        """Return the number of calls that may be in flight."""
        return self._size

    def share(self, among: int) -> None:
        """Divide the limit equally between this many processes."""
        with self._lock:
            self._among = max(among, 1)
            self._size = min(self._size, self._ceiling)

    @property
    def _ceiling(self) -> float:
        return max(self._bounds.ceiling / self._among, self._bounds.floor)

    @property
    def under_way(self) -> int:
        """Return the number of calls in flight."""
        return self._under_way

    def enter(self) -> bool:
        """Reserve a slot; return False if none is free."""
        with self._lock:
            if self._under_way >= int(self._size) or self._clock.now() < self._closed_until:
                return False
            self._under_way += 1
            return True

    def leave(self) -> None:
        """Release the slot."""
        with self._lock:
            self._under_way -= 1

    def pause(self) -> float:
        """Return the seconds until the end of a requested pause, or 0."""
        return max(0.0, self._closed_until - self._clock.now())

    def observe(
        self, status: int, seconds: float, retry_after: float | None = None, kind: str = ""
    ) -> None:
        """Adapt to the status, duration and requested pause of a response.

        Durations are compared only within the same ``kind`` of calls.
        """
        with self._lock:
            now = self._clock.now()
            overloaded = status in _OVERLOADED or bool(status == _CONFLICT and retry_after)
            if overloaded and retry_after:
                self._closed_until = max(self._closed_until, now + retry_after)
            if overloaded:
                self._cut(now, self._bounds.floor)
            # Errors say nothing about speed: a refusal is often faster than the work.
            elif status < _ERRORS and self._rises(kind, seconds):
                # Without the minimum, slowness would raise a limit that errors have cut below its
                # floor.
                self._cut(now, min(self._bounds.slow_floor, self._size))
            # Only a used limit grows: an idle service has not shown that it can take more.
            elif self._under_way >= int(self._size) - 1:
                self._grow()

    def _rises(self, kind: str, seconds: float) -> bool:
        speed = self._speeds.get(kind)
        if speed is None:
            if len(self._speeds) >= _KINDS:
                # This bounds the memory. The speeds are learned again within a few calls.
                self._speeds.clear()
            self._speeds[kind] = _Speed(seconds, seconds)
            return False
        return speed.rises(seconds)

    def _grow(self) -> None:
        """Double the limit with each round until the first cut, then add one per round."""
        by = 1.0 / self._size if self._was_cut else 1.0
        self._size = min(self._ceiling, self._size + by)

    @property
    def _was_cut(self) -> bool:
        return self._cut_at > float("-inf")

    def _cut(self, now: float, floor: float) -> None:
        if now - self._cut_at >= self._bounds.hold:
            self._size = max(floor, self._size * _DECREASE)
            self._cut_at = now
