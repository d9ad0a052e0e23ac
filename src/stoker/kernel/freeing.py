"""Frees memory without long pauses.

Garbage is collected in small steps. Large values are freed in parts on a thread of their own, so
that other threads can run in between.

Python frees a value with all its parts in one step, on the thread that drops the last reference. No
other thread can run meanwhile, for instance 0.1 s for the evaluation of 50,000 resources.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from typing import Any

_dropped: SimpleQueue[Any] = SimpleQueue()


@contextmanager
def loading() -> Iterator[None]:
    """Load the modules of this process within the ``with`` block, excluded from collections.

    No thread can run during a collection. One of the two young generations reads 30,000 new objects
    at most, in a few milliseconds. A collection of all objects is as rare as possible: the objects
    of large stacks live long, and are freed without it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(10_000, 2, 2000)


def drop(value: Any) -> None:
    """Free a part of a value on the thread for it; for ``__del__`` of large values.

    Before :func:`start` is called, values are freed where they are dropped.
    """
    if start.cache_info().currsize:
        _dropped.put(value)


@cache
def start() -> None:
    """Free on a thread from now on, until this process ends.

    The C library returns large blocks to the system as soon as they are freed.
    """
    for option, value in _ALLOCATOR.items():
        _c_library("mallopt", option, value)
    threading.Thread(target=_free, name="freeing", daemon=True).start()


def give_back() -> None:
    """Return free memory to the system. Takes a while; other threads run meanwhile."""
    _c_library("malloc_trim", 0)


_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD, _M_ARENA_MAX = -3, -1, -8
_ALLOCATOR = {
    # Without a fixed threshold it grows to 32 MiB with the first large text that is freed. Texts
    # below it then stay in the arena of the thread that has read them.
    _M_MMAP_THRESHOLD: 512 * 1024,
    _M_TRIM_THRESHOLD: 4 * 1024 * 1024,
    # Limit the arenas. Each of them (by default eight for each core) keeps the memory that its
    # threads once needed.
    _M_ARENA_MAX: 4,
}


def _c_library(name: str, *arguments: int) -> None:
    """Call a function that only the GNU C library has."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function(*arguments)


def _free() -> None:
    while True:
        _dropped.get()
