"""Singleton tasks: they run in the one of many processes that holds the lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from stoker.concurrency.background import Background
from stoker.engine.model.interfaces import StoreError
from stoker.kernel.logs.log import Log
from stoker.store.sql.session_lock import SessionLock

log = Log(__name__)

LOOK = 2.0  # seconds between two checks of the lock


class SingletonTask(Protocol):
    """A background task; it may be started and closed several times."""

    def start(self) -> None:
        """Start."""

    async def close(self) -> None:
        """End."""


class LeaderTasks:
    """Starts duties with the lock, and closes them without."""

    def __init__(self, lock: SessionLock, tasks: Sequence[SingletonTask]) -> None:
        self._lock = lock
        self._tasks = tasks
        self._background = Background(self._run)

    def start(self) -> None:
        """Start to try for the lock."""
        self._background.start()

    async def close(self) -> None:
        """End, so that another process can continue immediately."""
        await self._background.close()
        await asyncio.to_thread(self._lock.release)

    async def _run(self) -> None:
        while True:
            if await self._may(self._lock.is_free) and await self._may(self._lock.acquire):
                for task in self._tasks:
                    task.start()
                try:
                    while await self._may(self._lock.is_held):  # noqa: ASYNC110 - nobody tells
                        await asyncio.sleep(LOOK)
                finally:
                    for task in self._tasks:
                        await task.close()
            await asyncio.sleep(LOOK)

    async def _may(self, ask: Callable[[], bool]) -> bool:
        try:
            return await asyncio.to_thread(ask)
        except StoreError as fault:
            log.warning("not known who does what is done once", reason=str(fault))
            return False
