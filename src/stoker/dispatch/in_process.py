"""Drives stacks with tasks of this process. At start it takes up every unfinished operation."""

from __future__ import annotations

import asyncio

from stoker.engine.driver import Driver
from stoker.engine.ports import Ports
from stoker.kernel.log import Log

log = Log(__name__)


LONGEST_PAUSE = 60.0
"""Seconds at most before a driver that fails again and again is started anew."""


class InProcess:
    """One driver for each stack that has something to do."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._drivers: dict[str, Driver] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._parents: dict[str, str | None] = {}
        self._failures: dict[str, int] = {}
        self._closed = False

    async def recover(self) -> None:
        """Go on with everything that an earlier process left unfinished."""
        for stack_id in await self._ports.store.unfinished_stacks():
            self.notify(stack_id)

    def notify(self, stack_id: str) -> None:
        """There is an operation or a signal for this stack in the store."""
        if self._closed:
            return
        driver = self._drivers.get(stack_id)
        if driver is not None:
            driver.notify()
            return
        driver = Driver(self._ports, stack_id, self.notify, self._ended)
        self._drivers[stack_id] = driver
        task = asyncio.get_running_loop().create_task(self._drive(stack_id, driver))
        self._tasks[stack_id] = task

    async def _drive(self, stack_id: str, driver: Driver) -> None:
        try:
            await driver.run()
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - a fault with one stack must not end the service
            await self._pause_after_failure(stack_id)
        else:
            self._failures.pop(stack_id, None)
        finally:
            self._drivers.pop(stack_id, None)
            self._tasks.pop(stack_id, None)
        # what was accepted while the driver was ending found a driver and made no new one
        if not self._closed and await self._has_work(stack_id):
            self.notify(stack_id)

    async def _pause_after_failure(self, stack_id: str) -> None:
        """Log what is being handled, and wait, longer with every failure in a row."""
        self._failures[stack_id] = failures = self._failures.get(stack_id, 0) + 1
        log.exception("driver failed; it is started again", stack=stack_id)
        await asyncio.sleep(min(2 ** (failures - 1), LONGEST_PAUSE))

    async def _has_work(self, stack_id: str) -> bool:
        """Whether an operation of the stack has not ended; a store that fails is asked again."""
        while True:
            try:
                return bool(await self._ports.store.operations(stack_id))
            except Exception:  # noqa: BLE001 - whatever the store says, the stack must not rest
                await self._pause_after_failure(stack_id)

    def _ended(self, stack_id: str) -> None:
        """A stack's operation has ended: whoever waits for the stack looks at it."""
        for driver in self._drivers.values():
            driver.rouse()

    async def idle(self) -> None:
        """Return when no stack is being driven."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Stop driving; everything stays as it is stored, for the next process."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
