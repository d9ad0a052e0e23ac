"""An event loop that skips waiting times.

If nothing is ready and only timers are left, the time of the loop advances to the next timer. So
pauses between batches, delays and timeouts take no time. Requests of other threads still wake it.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from typing import Any


class _SkippingSelector(selectors.DefaultSelector):
    """A selector that adds the time for which it would wait to ``skipped_seconds``."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped_seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return ready files. Without a timeout, wait for one."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(0)
        if not ready:
            self.skipped_seconds += timeout
        return ready


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop that skips waiting times. It must not wait for files with a timeout."""

    def __init__(self) -> None:
        self._skipping: Any = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        """Return the monotonic time, with the skipped seconds."""
        return super().time() + float(self._skipping.skipped_seconds)

    def now(self) -> float:
        """Return the time since the epoch, with the skipped seconds: it is a clock."""
        return time.time() + float(self._skipping.skipped_seconds)
