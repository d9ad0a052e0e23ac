"""Drives stacks with tasks of this process. At start it resumes all unfinished operations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import Context

from stoker.dispatch.failures import Failures, spare_all
from stoker.engine.execution.waiting import NO_ENDS, End
from stoker.engine.model.interfaces import (
    Dispatcher,
    FencedError,
    Observer,
    Ports,
)
from stoker.engine.model.records import (
    AcquiredStack,
    Input,
    Operation,
    Stack,
)
from stoker.engine.model.storage.changes import Change, records_of
from stoker.engine.model.storage.turns import ends_of, notification_of
from stoker.engine.operations.driver import Driver
from stoker.kernel.logs.log import Log

log = Log(__name__)


LOOK_AGAIN = 30.0  # seconds until a stack that another engine has acquired is checked again


class InProcess(Dispatcher, Observer):
    """One driver for each stack that has something to do."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._drivers: dict[str, Driver] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failures = Failures()
        self._closed = False
        ports.store.observe(self)

    @property
    def under_way(self) -> int:
        """Return the number of driven stacks."""
        return len(self._drivers)

    def committed(self, change: Change, *, certain: bool) -> None:
        """Start drivers for new operations, and notify them of signals and of nested ends."""
        notification = notification_of(change)
        for stack_id in notification.due:
            is_acquired = certain and stack_id in change.acquires
            self._wake(stack_id, _acquired(change, stack_id) if is_acquired else None)
        if notification.ended:
            # An uncertain commit may not have been written. The driver then has to read the end.
            ends = ends_of(change) if certain else NO_ENDS
            for parent_id, stack_id in notification.ended:
                self._wake_parent(parent_id, stack_id, ends)

    async def recover(self) -> None:
        """Resume everything that an earlier process left unfinished."""
        for stack_id in await self._ports.store.unfinished_stacks():
            self.wake(stack_id)

    def wake(self, stack_id: str) -> None:
        """There is an operation or a signal for this stack in the store."""
        self._wake(stack_id)

    def _wake(self, stack_id: str, recorded: AcquiredStack | None = None) -> None:
        if self._closed:
            return
        driver = self._drivers.get(stack_id)
        if driver is not None:
            driver.notify()
            return
        fault = self._failures.last(stack_id)
        driver = Driver(self._ports, stack_id, self, fault, recorded)
        self._drivers[stack_id] = driver
        # It works for the requests of its operations, not for the current one.
        task = asyncio.get_running_loop().create_task(
            self._drive(stack_id, driver), context=Context()
        )
        self._tasks[stack_id] = task

    async def _drive(self, stack_id: str, driver: Driver) -> None:
        try:
            again = await self._run(stack_id, driver)
        finally:
            self._drivers.pop(stack_id, None)
            self._tasks.pop(stack_id, None)
        if again and not self._closed:
            self.wake(stack_id)

    async def _run(self, stack_id: str, driver: Driver) -> bool:
        """Let the driver do all that there is; returns whether there is more by then."""
        try:
            await driver.run()
        except FencedError:
            log.info("stack taken over by another engine", stack=stack_id)
            return driver.has_notification or await self._is_left(stack_id, driver)
        except Exception as fault:  # noqa: BLE001 - noted, whatever it is
            self._failures.note(stack_id, fault)
            await self._failures.pause(stack_id, driver)
            return True
        self._failures.forget(stack_id)
        # what was accepted while the driver was ending found a driver and made no new one
        return driver.has_notification and await self._has_work(stack_id, driver)

    async def _is_left(self, stack_id: str, driver: Driver) -> bool:
        """Return whether the engine that has taken the stack over has left it to be driven again.

        Two engines that take a stack back immediately would do so for ever. So it is checked again
        after a while, and immediately when this engine is notified of a change, which the other one
        does not notice.
        """
        while await self._has_work(stack_id, driver):
            before = await self._fencing_token(stack_id)
            try:
                await asyncio.wait_for(driver.next_notification(), LOOK_AGAIN)
            except TimeoutError:
                if await self._fencing_token(stack_id) != before:
                    continue
            return True
        return False

    async def _fencing_token(self, stack_id: str) -> int | None:
        stack = await self._ports.store.stack(stack_id)
        return None if stack is None else stack.fencing_token

    async def _has_work(self, stack_id: str, driver: Driver) -> bool:
        """Return whether an operation of the stack has not ended; retry if the store fails."""
        while True:
            try:
                return bool(await self._ports.store.queue(stack_id))
            except Exception:  # noqa: BLE001 - whatever the store says, the stack must not rest
                await self._failures.pause(stack_id, driver)

    def wake_parent(self, parent_id: str, stack_id: str) -> None:
        """Notify the parent of a nested stack whose operation has ended."""
        self._wake_parent(parent_id, stack_id, NO_ENDS)

    def _wake_parent(self, parent_id: str, stack_id: str, ends: Mapping[str, End]) -> None:
        driver = self._drivers.get(parent_id)
        if driver is not None:
            driver.child_ended(stack_id, ends)

    async def idle(self) -> None:
        """Return when no stack is being driven."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Stop driving; everything stays as it is stored, for the next process."""
        self._closed = True
        tasks, drivers = list(self._tasks.values()), list(self._drivers.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await spare_all(self._ports, drivers)


def _acquired(change: Change, stack_id: str) -> AcquiredStack | None:
    """Return a stack that this engine has acquired with its record; None to read it again."""
    operations = [each for each in records_of(change, Operation) if each.stack_id == stack_id]
    if len(operations) != 1:
        return None
    [stack] = [each for each in records_of(change, Stack) if each.id == stack_id]
    inputs = [each for each in records_of(change, Input) if each.id == operations[0].input_id]
    return AcquiredStack(stack.acquired, operations[0], next(iter(inputs), None))
