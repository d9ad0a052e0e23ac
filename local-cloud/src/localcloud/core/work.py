"""Work that runs after a request is answered: one piece at a time for each object."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from localcloud.core.background_tasks import BackgroundTasks

_LOG = logging.getLogger(__name__)
_HOLD_SECONDS = 0.5  # a request about an object waits this long for work on it


class Work:
    """Runs work in the background. Work handles its own errors; the rest is logged."""

    def __init__(self) -> None:
        self._tasks = BackgroundTasks()
        self._latest: dict[str, asyncio.Task[None]] = {}
        # A lock exists as long as work holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def begin(self, object_id: str, work: Callable[[], Awaitable[None]]) -> None:
        """Start work on an object, after the work on it that is in progress."""
        task = self._tasks.start(self._run(object_id, work))
        self._latest[object_id] = task
        task.add_done_callback(lambda done: self._end(object_id, done))

    async def _run(self, object_id: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            async with self.alone(object_id):
                await work()
        except Exception:  # noqa: BLE001  (it must not end unseen)
            _LOG.exception("work on %s failed", object_id)

    def _end(self, object_id: str, task: asyncio.Task[None]) -> None:
        if self._latest.get(object_id) is task:
            del self._latest[object_id]

    @asynccontextmanager
    async def alone(self, *object_ids: str) -> AsyncIterator[None]:
        """Hold the locks of these objects. No other work on them runs meanwhile."""
        async with AsyncExitStack() as held:
            # In a fixed order, so that two callers never wait for each other.
            for object_id in sorted(object_ids):
                lock = self._locks.setdefault(object_id, asyncio.Lock())
                await held.enter_async_context(lock)
            yield

    async def soon(self, object_id: str) -> None:
        """Return when the work on an object has ended, or after half a second."""
        task = self._latest.get(object_id)
        if task is not None:
            await asyncio.wait({task}, timeout=_HOLD_SECONDS)

    async def finished(self, object_id: str) -> None:
        """Return when the work on an object has ended."""
        while (task := self._latest.get(object_id)) is not None:
            await asyncio.wait({task})

    async def idle(self) -> None:
        """Return when no work is left."""
        await self._tasks.idle()

    async def stop(self) -> None:
        """Cancel all work."""
        await self._tasks.stop()
