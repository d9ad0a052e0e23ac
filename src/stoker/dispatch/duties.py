"""What one of many processes does for all: whoever has the lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from stoker.background import Background
from stoker.engine.model.interfaces import StoreFault
from stoker.kernel.log import Log

log = Log(__name__)

LOOK = 2.0
"""Seconds between two looks at the lock."""


class OneHolder(Protocol):
    """A lock that one process can have. Blocking; raises StoreFault."""

    def take(self) -> bool:
        """Return whether it is ours from now on."""

    def is_held(self) -> bool:
        """Return whether it is still ours."""

    def release(self) -> None:
        """Let others have it."""


class Duty(Protocol):
    """Something that is done as long as this lasts; it may begin and end several times."""

    def start(self) -> None:
        """Begin."""

    async def close(self) -> None:
        """End."""


class Duties:
    """Begins duties with the lock, and ends them without."""

    def __init__(self, lock: OneHolder, duties: Sequence[Duty]) -> None:
        self._lock = lock
        self._duties = duties
        self._background = Background(self._run)

    def start(self) -> None:
        """Begin to try for the lock."""
        self._background.start()

    async def close(self) -> None:
        """End, so that others can go on at once."""
        await self._background.close()
        await asyncio.to_thread(self._lock.release)

    async def _run(self) -> None:
        while True:
            if await self._may(self._lock.take):
                for duty in self._duties:
                    duty.start()
                try:
                    while await self._may(self._lock.is_held):  # noqa: ASYNC110 - nobody tells
                        await asyncio.sleep(LOOK)
                finally:
                    for duty in self._duties:
                        await duty.close()
            await asyncio.sleep(LOOK)

    async def _may(self, ask: Callable[[], bool]) -> bool:
        try:
            return await asyncio.to_thread(ask)
        except StoreFault as fault:
            log.warning("not known who does what is done once", reason=str(fault))
            return False
