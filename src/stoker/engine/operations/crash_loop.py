"""Backoff for stacks that lose one driver after another, and the end of their operations.

Takes a stack, whose ``attempts`` counts the drivers that started on the same operation without an
event in between, and the error of the last driver. Produces a delay before the next start, or
the reason for which the driver fails the operation.

Invariant: an operation that kills its engine, or fails every driver, ends after five attempts. An
operation whose engine is killed from outside, at any rate, is not counted out: the engine dies
during the delay, which counts nothing, or drives for ten seconds, which resets the count.

The driver is the only caller; a process that shuts down uses ``spare``.
Tested by tests/recovery/test_force_fail.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from stoker.engine.model.interfaces import COUNTED_AT_ONCE, FencedError, Ports, StoreError
from stoker.engine.model.records import Stack, current_operation
from stoker.kernel.errors import fault_reason
from stoker.kernel.logs.log import Log

log = Log(__name__)

MAX_ATTEMPTS = 6  # the sixth driver in a row starts nothing: it fails the operation
BACKOFF_SECONDS = {3: 1.0, 4: 10.0, 5: 60.0}  # by the number of drivers in a row
HEALTHY_AFTER_SECONDS = 10.0


async def back_off(
    ports: Ports, stack: Stack, notified: asyncio.Event, is_released: Callable[[], bool]
) -> None:
    """Wait longer the more drivers in a row were lost, and count this start only afterwards.

    Only a request that supersedes the operation ends the delay early, or the release of the stack,
    which counts nothing.
    """
    if stack.attempts < COUNTED_AT_ONCE:
        return
    log.warning("stack taken over without progress before", stack=stack.id, times=stack.attempts)
    suspected = current_operation(await ports.store.queue(stack.id))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(BACKOFF_SECONDS[stack.attempts]):
            while not is_released():
                await notified.wait()
                notified.clear()
                # Ignore notifications about the same operation. A parent sends one with each of its
                # own starts, so a nested stack that only waits would be counted with every restart.
                first = current_operation(await ports.store.queue(stack.id))
                if suspected is None or first is None or first.id != suspected.id:
                    return
    if not is_released():
        await ports.store.count_attempt(stack)


@contextlib.asynccontextmanager
async def healthy_after_delay(ports: Ports, stack: Stack) -> AsyncIterator[None]:
    """Reset the count of a stack that is driven for ten seconds inside this context."""

    async def reset() -> None:
        # A timer of the event loop proves more than the clock: an operation that blocks the loop
        # delays it, so that its stack stays suspected.
        await asyncio.sleep(HEALTHY_AFTER_SECONDS)
        with contextlib.suppress(FencedError, StoreError):
            await ports.store.reset_attempts(stack)

    timer = asyncio.ensure_future(reset()) if stack.attempts > 1 else None
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()


async def spare(ports: Ports, stack: Stack) -> None:
    """Count nothing against a stack whose engine shuts down in order."""
    # If this write fails, the next engine counts one driver too many, and waits a little longer.
    with contextlib.suppress(FencedError, StoreError):
        await ports.store.reset_attempts(stack)


def reason_to_give_up(stack: Stack, fault: Exception | None) -> str:
    """Return the reason of an abandoned operation; ``fault`` is the error of the last driver."""
    if fault is None:
        why = "the service terminated each time"
    else:
        why = str(fault) if isinstance(fault, StoreError) else fault_reason(fault)
    return f"abandoned after {stack.attempts - 1} attempts, none of which got any further: {why}"
