"""Drives stacks in turns: each for as long as there is work without long pauses.

The engine that takes a turn out of the queue starts it. While it lasts, its driver is notified of
changes: of commits of this process directly, of others by :mod:`stoker.dispatch.notifications`.
Each change is also queued as a turn of its own, which the notified engine removes. A queued turn
may mean several changes. So if it is removed without a notification, or the connection for
notifications was lost, the drivers read everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence

from stoker.dispatch.failures import Failures, spare_all
from stoker.engine.execution.waiting import NO_ENDS, End
from stoker.engine.model.interfaces import (
    Dispatcher,
    FencedError,
    Observer,
    Ports,
    StoreError,
)
from stoker.engine.model.storage.changes import Change
from stoker.engine.model.storage.turns import TurnQueue, ends_of, notification_of
from stoker.engine.operations.driver import Driver
from stoker.kernel.logs.log import Log

log = Log(__name__)

STAYS = 2.0  # seconds for which a driver keeps a stack that only pauses
GATHERS = 0.02  # seconds for which notifications are gathered before they are processed
AGAIN_AFTER = 1.0  # seconds after which a turn that cannot continue now is tried again
LETS_GO = 2.0  # seconds that drivers have for the release of their stacks


class Turns(Dispatcher, Observer):
    """The turns that are under way in this process."""

    def __init__(self, ports: Ports, queue: TurnQueue, stays: float = STAYS) -> None:
        self._ports = ports
        self._queue = queue
        self._stays = stays
        self._drivers: dict[str, Driver] = {}
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._failures = Failures()
        # Unprocessed notifications about stacks that are driven here: ids of ended nested stacks,
        # or None for other changes.
        self._pending: dict[str, set[str | None]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._closed = False
        ports.store.observe(self)

    @property
    def under_way(self) -> int:
        """Return the number of turns in progress."""
        return len(self._drivers)

    async def turn(self, stack_id: str) -> None:
        """Drive a stack until it has nothing to do, or is released for now.

        Raises :class:`FencedError` if another engine may drive the stack.
        """
        while True:
            try:
                return await self._turn(stack_id)
            except StoreError as fault:
                log.warning("turn left for now", stack=stack_id, reason=str(fault))
                await asyncio.sleep(AGAIN_AFTER)
                self._ports.lease.require()

    async def _turn(self, stack_id: str) -> None:
        if stack_id in self._drivers:
            # an earlier turn, which another engine took for dead, has not ended yet
            await self._queue.schedule(stack_id, self._ports.clock.now() + AGAIN_AFTER)
            return
        again = True
        while again and not self._closed:
            fault = self._failures.last(stack_id)
            driver = Driver(self._ports, stack_id, self, fault, max_idle_seconds=self._stays)
            self._drivers[stack_id] = driver
            self._driving[stack_id] = asyncio.ensure_future(driver.run())
            try:
                again = await self._ended(stack_id, driver)
            finally:
                # A cancelled turn must not leave its driver running.
                self._driving.pop(stack_id).cancel()
                del self._drivers[stack_id]
        if self._closed:
            # Other engines find the stack by this turn. Without it, they would find it only by the
            # slow check for operations without a driver.
            await self._queue.schedule(stack_id, 0)

    async def _ended(self, stack_id: str, driver: Driver) -> bool:
        """Wait until the driver ends; return whether another one is needed immediately."""
        try:
            await asyncio.wait([self._driving[stack_id]])
            if self._driving[stack_id].cancelled():
                return False
            self._driving[stack_id].result()
        except FencedError:
            log.info("stack taken over by another engine", stack=stack_id)
            # An engine that had hung may have taken it, and drops it without a release.
            await self._queue.schedule(stack_id, self._ports.clock.now() + AGAIN_AFTER)
            return False
        except Exception as fault:  # noqa: BLE001 - noted, whatever it is
            self._failures.note(stack_id, fault)
            await self._failures.pause(stack_id, driver)
            self._ports.lease.require()
            return True
        self._failures.forget(stack_id)
        if driver.has_notification:
            return True
        if driver.resume_at is not None:
            await self._queue.schedule(stack_id, driver.resume_at)
            return driver.has_notification
        # Notifications that arrive while the driver shuts down stay queued as a turn, unless the
        # driver already consumed it.
        return driver.has_notification

    def committed(self, change: Change, *, certain: bool) -> None:
        """Let drivers of this process hear of its own commits."""
        notification = notification_of(change)
        # An uncertain commit may not have been written. The driver then has to read the end.
        ends = ends_of(change) if certain else NO_ENDS
        for stack_id in notification.due:
            self._notify_driver(stack_id)
        for parent_id, child_id in notification.ended:
            self._notify_of_end(parent_id, child_id, ends)

    def _notify_driver(self, stack_id: str) -> None:
        if (driver := self._drivers.get(stack_id)) is not None:
            driver.notify()

    def _notify_of_end(self, parent_id: str, child_id: str, ends: Mapping[str, End]) -> None:
        if (driver := self._drivers.get(parent_id)) is not None:
            driver.child_ended(child_id, ends)

    def receive(self, notifications: Iterable[tuple[str, str | None]], *, known: bool) -> None:
        """Handle notifications about stacks, or about nested ones of theirs.

        ``known`` means that :meth:`committed` has already handled them.
        """
        for stack_id, child_id in notifications:
            if stack_id not in self._drivers:
                continue
            if not self._pending:
                self._later(self._deliver())
            children = self._pending.setdefault(stack_id, set())
            # A known change needs no second notification, but its turn must be consumed as well.
            if not known:
                children.add(child_id)

    async def _deliver(self) -> None:
        """Remove the turns of the notifications, then wake the drivers."""
        await asyncio.sleep(GATHERS)
        pending, self._pending = self._pending, {}
        await self._consume(list(pending))
        for stack_id, children in pending.items():
            for child_id in children:
                if child_id is None:
                    self._notify_driver(stack_id)
                else:
                    self._notify_of_end(stack_id, child_id, NO_ENDS)

    async def wake_due(self) -> None:
        """Wake the drivers of stacks with a due turn, after notifications may have been lost."""
        for stack_id in await self._consume(list(self._drivers)):
            if (driver := self._drivers.get(stack_id)) is not None:
                driver.wake_all()

    async def _consume(self, stack_ids: Sequence[str]) -> Collection[str]:
        """Take away the turns of these stacks that are due; returns whose may be gone."""
        try:
            # Other engines may have put turns back that this one does not end. A driver of this
            # engine, which will be abandoned, must not consume them.
            self._ports.lease.require()
            due = await self._queue.consume(stack_ids)
        except FencedError:
            return ()
        except StoreError:
            # The turns may be gone although the response was lost, so all of them count as due.
            due = stack_ids
        for stack_id in due:
            if stack_id not in self._drivers:
                # its driver has ended meanwhile, and may not have looked
                self._later(self._queue.schedule(stack_id, 0))
        return due

    def miss(self) -> None:
        """Nothing was heard for a while: whatever is driven may have news."""
        for driver in self._drivers.values():
            driver.wake_all()

    def wake(self, stack_id: str) -> None:
        """There is an operation or a signal for this stack in the store."""
        if stack_id in self._drivers:
            self._notify_driver(stack_id)
        else:
            self._later(self._queue.schedule(stack_id, 0))

    def wake_parent(self, parent_id: str, stack_id: str) -> None:
        """A nested stack's operation has ended otherwise than by a change."""
        self._notify_of_end(parent_id, stack_id, NO_ENDS)
        self._later(self._queue.schedule(parent_id, 0))

    def _later(self, work: Awaitable[None]) -> None:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Release all stacks, so that other engines continue with them."""
        self._closed = True
        for driver in self._drivers.values():
            driver.release()
        await spare_all(self._ports, await self._end(LETS_GO))

    async def abandon(self) -> None:
        """Stop driving immediately, because other engines may have taken over."""
        await self._end(0)

    async def _end(self, seconds: float) -> Collection[Driver]:
        """Wait for the drivers; returns those that were cut off because their time was up."""
        driving = {task: self._drivers[stack_id] for stack_id, task in self._driving.items()}
        if not driving:
            return ()
        _, left = await asyncio.wait(list(driving), timeout=seconds)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        return [driving[task] for task in left]


async def _logged(work: Awaitable[None]) -> None:
    try:
        await work
    except StoreError as fault:
        log.warning("a turn is asked for later", reason=str(fault))
