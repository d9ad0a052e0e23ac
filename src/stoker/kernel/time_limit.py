"""Whom work is done for, and the time that it may take. What walks over input asks now and then.

A thread cannot be stopped from outside. Work that is begun within :func:`limited` is stopped by
the next :func:`check` after its time; outside of it, a check does nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from stoker.kernel.errors import LimitExceeded

project: ContextVar[str] = ContextVar("project", default="")
"""The id of the project that the task at work works for."""
_here = threading.local()


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Let this thread compute for so long within the ``with`` block."""
    before = getattr(_here, "end", None)
    _here.seconds = seconds
    _here.end = time.thread_time() + seconds
    _here.not_before = time.monotonic() + seconds
    try:
        yield
    finally:
        _here.end = before


def check() -> None:
    """Raise :class:`LimitExceeded` when the time is up."""
    end = getattr(_here, "end", None)
    # no thread computes for longer than time goes by, and the clock is asked in a tenth of the time
    if end is None or time.monotonic() < _here.not_before:
        return
    left = end - time.thread_time()
    _here.not_before = time.monotonic() + left
    if left < 0:
        raise LimitExceeded(
            f"this takes more than {_here.seconds:g} s of computing; make it smaller: fewer"
            " resources, or fewer stacks nested in each other"
        )
