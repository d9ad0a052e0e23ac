"""Frees memory without long pauses.

Garbage is collected in small steps. Large values are freed in parts on a thread of their own, so
that other threads can run in between.

Python frees a value with all its parts in one step, on the thread that drops the last reference. No
other thread can run meanwhile, for instance 0.1 s for the evaluation of 50,000 resources.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from queue import SimpleQueue
from typing import Any

from msgspec import Struct, structs

_dropped: SimpleQueue[Any] = SimpleQueue()


@contextmanager
def loading() -> Iterator[None]:
    """Load the modules of this process within the ``with`` block, excluded from collections.

    No thread can run during a collection. One of the two young generations reads 15,000 new objects
    at most, in 5 to 20 ms. A collection of all objects is as rare as possible: the objects
    of large stacks live long, and are freed without it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(5_000, 2, 4000)


def drop(value: Any) -> None:
    """Free a large value on the thread for it, in parts, once nothing else refers to it.

    The caller must drop its own references right after. Before :func:`start` is called, values are
    freed where they are dropped.
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
        # A value that cannot be taken apart, for instance without memory, is freed in one step.
        with suppress(Exception):
            # Kept by nothing else, so that _take_apart finds the only reference.
            _take_apart([_dropped.get()], _LEVELS)


_LEVELS = 8  # levels of parts that are taken apart; those below are freed with their owner
_FEW = 100  # parts that are taken apart; more are freed one by one


def _take_apart(values: list[Any], levels: int) -> None:
    """Free the values of a list one by one, and those with few parts in parts.

    Python may let other threads run after each value. Values that something else refers to stay as
    they are.
    """
    while values:
        value = values.pop()
        if not levels or sys.getrefcount(value) > _ONLY_HERE:
            continue
        parts = _parts_of(value)
        del value
        if parts:
            _take_apart(parts, levels - 1 if len(parts) <= _FEW else 0)


_ONLY_HERE = 2  # references to a value of a local variable, with the one of the call that counts


def _parts_of(value: Any) -> list[Any]:
    """Return the parts of a value that nothing else uses."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Struct):
        return list(structs.astuple(value))
    return list(getattr(value, "__dict__", {}).values())
