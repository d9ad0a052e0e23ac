"""Transactions on the event loop itself, where nothing else must be able to happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class InlineRunner:
    """Runs transactions immediately, in the calling thread."""

    async def write(self, transaction: Callable[[], Result]) -> Result:
        """Run now."""
        await asyncio.sleep(0)
        return transaction()

    async def read(self, transaction: Callable[[], Result]) -> Result:
        """Run now."""
        await asyncio.sleep(0)
        return transaction()
