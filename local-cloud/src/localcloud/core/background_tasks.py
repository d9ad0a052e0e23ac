"""Tasks that a service starts beside its requests, and ends when it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class BackgroundTasks:
    """Running tasks. They handle their errors themselves."""

    def __init__(self) -> None:
        # The event loop itself keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task in the running loop; return it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def idle(self) -> None:
        """Return when no task is left, not even one that another task has started."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self) -> None:
        """Cancel all tasks, and return when they have ended."""
        for task in list(self._tasks):
            task.cancel()
        await self.idle()
