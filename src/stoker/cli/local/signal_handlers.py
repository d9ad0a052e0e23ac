"""Handlers of signals during a part of a command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], None]


@contextmanager
def signal_handler(handler: Handler, numbers: Sequence[signal.Signals]) -> Iterator[None]:
    """Call ``handler`` for these signals inside the block; restore the handlers afterwards."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
