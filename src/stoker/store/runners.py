"""Where transactions run: on threads, so that the event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Runner(Protocol):
    """Runs transactions, one writing one at a time."""

    async def write(self, transaction: Callable[[], Result]) -> Result:
        """The result of a writing transaction."""

    async def read(self, transaction: Callable[[], Result]) -> Result:
        """The result of a reading transaction."""


class ThreadRunner:
    """One thread for writing, a few for reading."""

    def __init__(self, readers: int = 4) -> None:
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._readers = ThreadPoolExecutor(readers, "store-reader")

    async def write(self, transaction: Callable[[], Result]) -> Result:
        """Run on the writing thread."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, transaction)

    async def read(self, transaction: Callable[[], Result]) -> Result:
        """Run on one of the reading threads."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, transaction)

    def close(self) -> None:
        """Let running transactions end, then stop the threads."""
        self._writer.shutdown()
        self._readers.shutdown()
