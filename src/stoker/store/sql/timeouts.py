"""Limits the time that requests wait for a database that may not respond at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from stoker.engine.model.interfaces import StoreError
from stoker.kernel.request_scope import in_request

Result = TypeVar("Result")

PATIENCE = 5.0  # seconds


class DatabaseTimeoutError(StoreError):
    """The database did not respond in time for a request."""


async def in_time(answer: Awaitable[Result]) -> Result:
    """Return the response of the database.

    Raises :class:`DatabaseTimeoutError` if a request waits too long. Background work waits without
    a limit.
    """
    if not in_request():
        return await answer
    try:
        async with asyncio.timeout(PATIENCE):
            return await answer
    except TimeoutError:
        words = f"the database has not answered within {PATIENCE:g} s"
        raise DatabaseTimeoutError(words, passing=True) from None
