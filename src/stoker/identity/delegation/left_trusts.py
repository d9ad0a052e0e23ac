"""Removes trusts that terminated processes left. One process does it for all."""

from __future__ import annotations

import asyncio

from stoker.concurrency.background import Background
from stoker.engine.model.interfaces import StoreError
from stoker.identity.delegation.trusts import Trusts
from stoker.kernel.errors import RequestError
from stoker.kernel.logs.log import Log

log = Log(__name__)

EVERY = 600.0  # seconds between two searches


class LeftTrusts:
    """A background task that searches at its start and then every ten minutes."""

    def __init__(self, trusts: Trusts, every: float = EVERY) -> None:
        self._trusts = trusts
        self._every = every
        self._background = Background(self._run)

    def start(self) -> None:
        """Start the task."""
        self._background.start()

    async def close(self) -> None:
        """Stop; the next process removes the rest."""
        await self._background.close()

    async def _run(self) -> None:
        while True:
            try:
                await self._trusts.remove_left_behind()
            except (StoreError, RequestError) as fault:
                log.warning("trusts left behind", error=str(fault))
            except Exception:
                log.exception("looking for trusts failed; it is tried again")
            await asyncio.sleep(self._every)
