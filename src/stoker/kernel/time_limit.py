"""Limits the computing time of work on user input; the work itself calls :func:`check`.

A thread cannot be stopped from outside. Work inside :func:`limited` is stopped by the next
:func:`check` after its time; outside of it, a check does nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from stoker.kernel.errors import LimitExceededError

# Id of the project that the current task works for.
project: ContextVar[str] = ContextVar("project", default="")
_here = threading.local()


class _Limit:
    """A limit of computing time from now on."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.thread_time() + seconds
        self._not_before = time.monotonic() + seconds

    def is_over(self) -> bool:
        """Return whether this thread has computed for the whole limit.

        The elapsed time is checked first, because that takes a tenth of the time.
        """
        if time.monotonic() < self._not_before:
            return False
        left = self._end - time.thread_time()
        self._not_before = time.monotonic() + left
        return left < 0


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the computing time of this thread within the ``with`` block."""
    before = getattr(_here, "limit", None)
    _here.limit = _Limit(seconds)
    try:
        yield
    finally:
        _here.limit = before


def check() -> None:
    """Raise :class:`LimitExceededError` if the time has been used up."""
    limit: _Limit | None = getattr(_here, "limit", None)
    if limit is not None and limit.is_over():
        raise LimitExceededError(
            f"this takes more than {limit.seconds:g} s of computing; make it smaller: fewer"
            " resources, or fewer stacks nested in each other"
        )
