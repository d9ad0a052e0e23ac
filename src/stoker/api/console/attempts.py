"""Limits failed sign-ins of each client address."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

ADDRESSES = 4096


class Limit(Struct, frozen=True):
    """A number of failures in a row, and the seconds after which one more is allowed."""

    most: int
    refill_seconds: float


GUESSES = Limit(20, 6.0)  # passwords, which an attacker may guess
# Tokens and tickets, which cannot be guessed: the limit protects the identity service from load.
PROOFS = Limit(600, 0.2)


class _Bucket(Struct, frozen=True):
    left: float
    at: float


class Attempts:
    """Counts failures in a table of bounded size; the address used longest ago is dropped first."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, address: str, now: float) -> bool:
        """Count an attempt before it is made. Return False if there were too many failures."""
        left = self._left(address, now)
        if left < 1:
            return False
        self._put(address, left - 1, now)
        return True

    def give_back(self, address: str, now: float) -> None:
        """Do not count an attempt that succeeded, or whose credentials were not checked."""
        self._put(address, min(self.limit.most, self._left(address, now) + 1), now)

    def _left(self, address: str, now: float) -> float:
        known = self._buckets.get(address)
        if known is None:
            return self.limit.most
        refilled = max(0.0, now - known.at) / self.limit.refill_seconds
        return min(self.limit.most, known.left + refilled)

    def _put(self, address: str, left: float, now: float) -> None:
        self._buckets[address] = _Bucket(left, now)
        self._buckets.move_to_end(address)
        while len(self._buckets) > ADDRESSES:
            self._buckets.popitem(last=False)
