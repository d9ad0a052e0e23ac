"""Marks work done on behalf of an HTTP request.

Such work fails after a few seconds if the database does not respond; background work waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class _Request:
    is_open: bool = True


_request: ContextVar[_Request | None] = ContextVar("request that is to be answered", default=None)


@contextmanager
def request_scope() -> Iterator[None]:
    """Mark the work in the block as that for a request.

    Background tasks that it starts no longer count as its work after the block.
    """
    request = _Request()
    token = _request.set(request)
    try:
        yield
    finally:
        request.is_open = False
        _request.reset(token)


def in_request() -> bool:
    """Return whether the current work is for a request that waits."""
    request = _request.get()
    return request is not None and request.is_open
