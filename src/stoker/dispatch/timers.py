"""Evaluates watch rules when they are due."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from stoker.concurrency.background import Background
from stoker.engine.model.interfaces import Observer, Store, StoreError
from stoker.engine.model.stack_records.watches import WatchDefinition
from stoker.engine.model.storage.changes import Change, records_of
from stoker.kernel.clock import Clock
from stoker.kernel.logs.log import Log

log = Log(__name__)

LONGEST = 30.0  # seconds until the next check, because other processes may have written


class WatchTimer(Observer):
    """A task that calls ``evaluate`` at the time that its last call has named."""

    def __init__(
        self, store: Store, clock: Clock, evaluate: Callable[[], Awaitable[float | None]]
    ) -> None:
        self._clock = clock
        self._evaluate = evaluate
        self._wakeup = asyncio.Event()
        self._background = Background(self._run)
        store.observe(self)

    def committed(self, change: Change, *, certain: bool) -> None:
        """Wake up for new watches, which may be due before all others."""
        if records_of(change, WatchDefinition):
            self.wake()

    def wake(self) -> None:
        """Wake up because another process may have started a watch."""
        self._wakeup.set()

    def start(self) -> None:
        """Start."""
        self._background.start()

    async def close(self) -> None:
        """Stop; the next process evaluates due watches."""
        await self._background.close()

    async def _run(self) -> None:
        while True:
            self._wakeup.clear()
            pause = LONGEST
            try:
                next_at = await self._evaluate()
                if next_at is not None:
                    pause = min(max(next_at - self._clock.now(), 0.0), LONGEST)
            except StoreError as fault:
                log.warning("watches not evaluated", reason=str(fault))
            except Exception:
                log.exception("watches not evaluated; it is retried")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wakeup.wait()
