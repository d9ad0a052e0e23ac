"""Whether somebody waits for what is done: who has asked over HTTP wants to hear within seconds
that it cannot be done now, while what goes on by itself waits as long as it takes.
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
    """Answer a request inside the block. What it has begun and left behind waits for nobody."""
    request = _Request()
    token = _request.set(request)
    try:
        yield
    finally:
        request.is_open = False
        _request.reset(token)


def in_request() -> bool:
    """Return whether a request is to be answered by what is done here."""
    request = _request.get()
    return request is not None and request.is_open
