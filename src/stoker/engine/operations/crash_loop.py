"""Stacks taken over repeatedly without progress: delayed, then given up.

An operation that kills its engine, or makes every driver fail, would be retried for ever. The store
counts the take-overs without progress; this module decides by the count.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from stoker.engine.model.interfaces import COUNTED_AT_ONCE, FencedError, Ports, StoreError
from stoker.engine.model.records import Stack, foremost
from stoker.kernel.errors import fault_reason
from stoker.kernel.log import Log

log = Log(__name__)

MOST_TAKE_UPS = 6
"""Take-overs in a row without progress after which an operation is given up."""
HOLDS = {3: 1.0, 4: 10.0, 5: 60.0}
"""Seconds to wait before a driver starts, by the number that started and failed."""
PROVEN_AFTER = 10.0
"""Seconds of driving after which a stack is not suspected any more."""


async def hold(ports: Ports, stack: Stack, news: asyncio.Event, leaves: Callable[[], bool]) -> None:
    """Start later the more often earlier starts failed, and count this start only then.

    A service that is killed from outside often ends during the delay, and nothing is counted; an
    operation that kills the service is started in the end, and counted each time. Only a request
    that supersedes the operation ends the delay early: other news, such as those that a parent
    sends with each of its own starts, would have every start counted. An engine that ``leaves``
    counts nothing.
    """
    if stack.take_ups < COUNTED_AT_ONCE:
        return
    log.warning("stack taken over without progress before", stack=stack.id, times=stack.take_ups)
    held = foremost(await ports.store.queue(stack.id))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(HOLDS[stack.take_ups]):
            while not leaves():
                await news.wait()
                news.clear()
                first = foremost(await ports.store.queue(stack.id))
                if held is None or first is None or first.id != held.id:
                    return
    if not leaves():
        await ports.store.count_take_up(stack)


@contextlib.asynccontextmanager
async def proving(ports: Ports, stack: Stack) -> AsyncIterator[None]:
    """While this lasts, see whether the loop still turns: then it is not this stack's fault."""

    async def prove() -> None:
        await asyncio.sleep(PROVEN_AFTER)
        with contextlib.suppress(FencedError, StoreError):
            await ports.store.forget_take_ups(stack)

    proof = asyncio.ensure_future(prove()) if stack.take_ups > 1 else None
    try:
        yield
    finally:
        if proof is not None:
            proof.cancel()


async def spare(ports: Ports, stack: Stack) -> None:
    """Do not count the engine that took the stack over: it ends in order."""
    with contextlib.suppress(FencedError, StoreError):
        await ports.store.forget_take_ups(stack)


def reason_to_give_up(stack: Stack, fault: Exception | None) -> str:
    """Return the reason of an operation that is given up; ``fault`` is the last driver's."""
    if fault is None:
        why = "the service terminated each time"
    else:
        why = str(fault) if isinstance(fault, StoreError) else fault_reason(fault)
    return f"abandoned after {stack.take_ups - 1} attempts, none of which got any further: {why}"
