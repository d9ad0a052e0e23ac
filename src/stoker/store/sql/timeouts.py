"""Requests wait a few seconds for a database that may not answer at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from stoker.engine.model.interfaces import StoreError
from stoker.kernel.request_scope import in_request

Result = TypeVar("Result")

PATIENCE = 5.0
"""Seconds."""


class DatabaseTimeoutError(StoreError):
    """A request has waited long enough."""


async def in_time(answer: Awaitable[Result]) -> Result:
    """Return the answer of the database. Raises :class:`DatabaseTimeoutError` if a request waits
    too long.
    """
    if not in_request():
        return await answer
    try:
        async with asyncio.timeout(PATIENCE):
            return await answer
    except TimeoutError:
        words = f"the database has not answered within {PATIENCE:g} s"
        raise DatabaseTimeoutError(words, passing=True) from None
