"""Limits failed sign-ins of each client address."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

MOST = 20  # failures in a row
REFILL_SECONDS = 6.0  # after which one more is allowed
ADDRESSES = 4096


class _Bucket(Struct, frozen=True):
    left: float
    at: float


class Attempts:
    """Counts failures in a table of bounded size; the address used longest ago is dropped first."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, address: str, now: float) -> bool:
        """Count an attempt before it is made. Return False if there were too many failures."""
        left = self._left(address, now)
        if left < 1:
            return False
        self._put(address, left - 1, now)
        return True

    def succeeded(self, address: str, now: float) -> None:
        """Do not count an attempt that succeeded."""
        self._put(address, min(MOST, self._left(address, now) + 1), now)

    def _left(self, address: str, now: float) -> float:
        known = self._buckets.get(address)
        if known is None:
            return MOST
        return min(MOST, known.left + max(0.0, now - known.at) / REFILL_SECONDS)

    def _put(self, address: str, left: float, now: float) -> None:
        self._buckets[address] = _Bucket(left, now)
        self._buckets.move_to_end(address)
        while len(self._buckets) > ADDRESSES:
            self._buckets.popitem(last=False)
