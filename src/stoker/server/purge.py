"""Deletes rows after their retention: deleted stacks, old events, ended operations.

It works in small steps with pauses between them, in the background. It may end at any point, and
any number of processes may do the same at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from stoker.concurrency.background import Background
from stoker.engine.model.interfaces import StoreError
from stoker.kernel.clock import Clock
from stoker.kernel.logs.log import Log

log = Log(__name__)

DAY = 86_400.0
FIRST_AFTER = 60.0
"""Seconds after the start, which has other things to do."""
EVERY = 3_600.0
"""Seconds between two looks."""
PAUSE = 0.2
"""Seconds between two bites."""

PurgeStep = Callable[[float], Awaitable[int]]
"""Deletes a little of what is older than a time; returns how much that was."""


class RetentionJob:
    """Deletes rows of each kind that are older than a number of days; -1 keeps them for ever."""

    def __init__(self, clock: Clock, rules: Sequence[tuple[PurgeStep, int]]) -> None:
        self._clock = clock
        self._rules = rules
        self._background = Background(self._run)

    def start(self) -> None:
        """Start on the running event loop."""
        self._background.start()

    async def close(self) -> None:
        """End after the bite under way."""
        await self._background.close()

    async def once(self) -> None:
        """Delete all that is old by now."""
        for step, days in self._rules:
            before = self._clock.now() - days * DAY
            while days >= 0 and await step(before):  # noqa: ASYNC110 - time for others
                await asyncio.sleep(PAUSE)

    async def _run(self) -> None:
        await asyncio.sleep(FIRST_AFTER)
        while True:
            try:
                await self.once()
            except StoreError as fault:
                log.warning("what is old is purged later", reason=str(fault))
            except Exception:
                log.exception("purging failed; it is tried again")
            await asyncio.sleep(EVERY)
