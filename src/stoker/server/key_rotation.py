"""Re-encrypts stored values with a new key, in small steps in the background.

It may end at any point: the next process continues with the rest.
"""

from __future__ import annotations

import asyncio

from stoker.concurrency.background import Background
from stoker.engine.model.interfaces import StoreError
from stoker.kernel.logs.log import Log
from stoker.store.maintenance.reencryption import Reencryption

log = Log(__name__)

FIRST_AFTER = 30.0
"""Seconds after the start, which has other things to do."""
PAUSE = 0.05
"""Seconds between two bites."""
AGAIN_AFTER = 60.0
"""Seconds after a failure."""


class KeyRotation:
    """Re-encrypts the texts of earlier keys."""

    def __init__(self, earlier: Reencryption) -> None:
        self._earlier = earlier
        self._asked = asyncio.Event()
        self._background = Background(self._run)

    def start(self) -> None:
        """Start on the running event loop."""
        self._background.start()

    def ask(self) -> None:
        """Start again for a new key."""
        self._asked.set()

    async def close(self) -> None:
        """End after the bite under way."""
        await self._background.close()

    async def once(self) -> None:
        """Encrypt all that is left."""
        key, steps = self._earlier.newest, 0
        while await self._earlier.step():
            steps += 1
            await asyncio.sleep(PAUSE)
        if steps:
            log.info("what is stored is encrypted with the newest key", key=key)

    async def _run(self) -> None:
        await self._sleep(FIRST_AFTER)
        while True:
            self._asked.clear()
            try:
                await self.once()
                await self._asked.wait()
            except StoreError as fault:
                log.warning("what earlier keys encrypted is left for later", reason=str(fault))
                await self._sleep(AGAIN_AFTER)
            except Exception:
                log.exception("re-encryption failed; it will be retried")
                await self._sleep(AGAIN_AFTER)

    async def _sleep(self, seconds: float) -> None:
        """Until the time is over, or there is a new key."""
        try:
            await asyncio.wait_for(self._asked.wait(), seconds)
        except TimeoutError:
            return
