"""The lease of an engine on its stacks, renewed by heartbeats.

Other engines take over the stacks of an engine whose heartbeats stop. Some time before that, it
stops to start calls, whether its machine, its database or its network hangs.
"""

from __future__ import annotations

import time

from stoker.engine.model.interfaces import FencedError, Lease

LEASE_S = 4.0  # an engine starts calls for this long after its last heartbeat


class HeartbeatLease(Lease):
    """Lasts for a time after each heartbeat. Safe to use from many threads."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = float("-inf")

    def renew(self, since: float) -> None:
        """A heartbeat that was sent then has arrived; see :func:`clock`."""
        self._until = since + self._seconds

    @property
    def holds(self) -> bool:
        """Return whether no other engine can have taken over."""
        return clock() < self._until

    def require(self) -> None:
        """Raise FencedError where others may have taken over."""
        if not self.holds:
            raise FencedError("this engine has sent no heartbeat for too long")


def clock() -> float:
    """Return seconds, including those for which the process or its machine was stopped."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
