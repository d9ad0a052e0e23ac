"""Failures of drivers, and the pause before the next one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

from stoker.engine.model.interfaces import Ports, StoreError
from stoker.engine.operations.crash_loop import spare
from stoker.engine.operations.driver import Driver
from stoker.kernel.backoff import Backoff
from stoker.kernel.errors import MachineError
from stoker.kernel.logs.log import Log

log = Log(__name__)

SPARING_SECONDS = 2.0  # a process that ends does not wait longer for a database that is slow
BACKOFF = Backoff(0.1, 5.0)  # pauses before a failed driver is restarted


async def spare_all(ports: Ports, drivers: Iterable[Driver]) -> None:
    """Count none of these drivers as failed: their process ends in order."""
    stacks = [driver.acquired for driver in drivers if driver.acquired is not None]
    writes = [asyncio.ensure_future(spare(ports, stack)) for stack in stacks]
    if writes:
        _, late = await asyncio.wait(writes, timeout=SPARING_SECONDS)
        for write in late:
            write.cancel()
        await asyncio.gather(*writes, return_exceptions=True)


class Failures:
    """The failures of a process's drivers, by stack."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._faults: dict[str, Exception] = {}

    def last(self, stack_id: str) -> Exception | None:
        """Return the error of the last driver of a stack; None if it ended without."""
        return self._faults.get(stack_id)

    def note(self, stack_id: str, fault: Exception) -> None:
        """A driver has failed."""
        self._faults[stack_id] = fault
        if isinstance(fault, StoreError | MachineError):
            log.warning("stack left for now", stack=stack_id, reason=str(fault))
        else:
            # a fault with one stack must not end the service
            log.error("driver failed; it is started again", stack=stack_id, exc_info=fault)

    def forget(self, stack_id: str) -> None:
        """A driver has ended well."""
        self._counts.pop(stack_id, None)
        self._faults.pop(stack_id, None)

    async def pause(self, stack_id: str, driver: Driver) -> None:
        """Wait, longer with every failure in a row, but not when there is something new."""
        count = self._counts.get(stack_id, 0)
        self._counts[stack_id] = count + 1
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(driver.next_notification(), BACKOFF.pause(count))
