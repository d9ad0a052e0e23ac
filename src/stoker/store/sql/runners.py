"""Runs transactions on threads, so that the event loop is not blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from stoker.concurrency.fair_threads import FairThreads
from stoker.kernel.errors import machine_errors

Result = TypeVar("Result")


class Runner(Protocol):
    """Runs transactions; only one at a time writes."""

    async def write(self, transaction: Callable[[], Result]) -> Result:
        """Return the result of a writing transaction."""

    async def read(self, transaction: Callable[[], Result]) -> Result:
        """Return the result of a reading transaction."""


READERS = 6
READERS_OF_ONE_PROJECT = 2  # slow reads of one project leave the other threads to other projects


class ThreadRunner:
    """One thread for writing, and a few for reading that projects share in turn."""

    def __init__(self, readers: int = READERS) -> None:
        self._writer = ThreadPoolExecutor(1, "store-writer")
        of_one_project = min(readers, READERS_OF_ONE_PROJECT)
        self._readers = FairThreads(readers, of_one_project, "store-reader")

    async def write(self, transaction: Callable[[], Result]) -> Result:
        """Run on the writing thread."""
        with machine_errors():
            return await asyncio.get_running_loop().run_in_executor(self._writer, transaction)

    async def read(self, transaction: Callable[[], Result]) -> Result:
        """Run on one of the reading threads, in the turn of the present project."""
        with machine_errors():
            return await self._readers.run(transaction)

    def close(self) -> None:
        """Let running transactions end, then stop the threads."""
        self._writer.shutdown()
        self._readers.close(wait=True)
