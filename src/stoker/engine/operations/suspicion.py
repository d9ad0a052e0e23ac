"""Stacks taken over repeatedly without progress: delayed, then given up.

An operation that kills its engine, or makes every driver fail, would be taken up for ever. The
store counts the take-ups that were in vain; here stands what follows from the count.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from stoker.engine.model.interfaces import COUNTED_AT_ONCE, Fenced, Ports, StoreFault
from stoker.engine.model.records import Stack
from stoker.kernel.errors import fault_reason
from stoker.kernel.log import Log

log = Log(__name__)

MOST_TAKE_UPS = 6
"""An operation that was begun so often in a row without getting further is given up."""
HOLDS = {3: 1.0, 4: 4.0, 5: 16.0}
"""Seconds to wait before a driver starts, by the number that started and failed."""
PROVEN_AFTER = 10.0
"""Seconds of driving after which a stack is not suspected any more."""


async def hold(ports: Ports, stack: Stack, news: Callable[[], Awaitable[None]]) -> None:
    """Start later the more often earlier starts failed, and count this start only then.

    Who kills the service often meets a driver that holds, and nothing is counted; what kills the
    service is begun in the end, and counted each time.
    """
    if stack.take_ups < COUNTED_AT_ONCE:
        return
    log.warning("stack taken up in vain before", stack=stack.id, times=stack.take_ups)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(news(), HOLDS[stack.take_ups])
    await ports.store.count_take_up(stack)


@contextlib.asynccontextmanager
async def proving(ports: Ports, stack: Stack) -> AsyncIterator[None]:
    """While this lasts, see whether the loop still turns: then it is not this stack's fault."""

    async def prove() -> None:
        await asyncio.sleep(PROVEN_AFTER)
        with contextlib.suppress(Fenced, StoreFault):
            await ports.store.forget_take_ups(stack)

    proof = asyncio.ensure_future(prove()) if stack.take_ups > 1 else None
    try:
        yield
    finally:
        if proof is not None:
            proof.cancel()


def reason_to_give_up(stack: Stack, fault: Exception | None) -> str:
    """What is said of an operation that is given up; ``fault`` is what the last driver met."""
    if fault is None:
        why = "the service terminated each time"
    else:
        why = str(fault) if isinstance(fault, StoreFault) else fault_reason(fault)
    return f"abandoned after {stack.take_ups - 1} attempts, none of which got any further: {why}"
