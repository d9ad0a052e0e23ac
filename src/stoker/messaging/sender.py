"""Sends the messages of the outbox in small batches, and deletes the delivered ones.

A process that dies between delivery and deletion leaves the message to the next process, which
sends it again. An unavailable receiver delays its own lane only; the backlog is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence

from stoker.concurrency.background import Background
from stoker.engine.model.interfaces import StoreError
from stoker.engine.model.outgoing import Outbox
from stoker.engine.model.records import Channel, Message
from stoker.kernel.backoff import Backoff
from stoker.kernel.logs.log import Log

log = Log(__name__)

AT_ONCE = 100  # messages in one batch
BACKOFF = Backoff(1.0, 60.0)  # pauses of a lane after failures
# Seconds after which the outbox is read without a wakeup: another process may have terminated
# before it sent its messages.
LOOK_AGAIN = 30.0
MOST_RESTING = 200  # As soon as this many lanes are paused, all are.


class MessageSink(ABC):
    """Delivers messages to their receivers."""

    @abstractmethod
    async def carry(self, messages: Sequence[Message]) -> int:
        """Deliver the messages of one lane in order; return how many are done.

        Messages that can never be delivered count as done. The number is lower than all if the
        receiver is down; the sink has logged the reason.
        """

    def close(self) -> None:  # noqa: B027 - most sinks have no connections of their own
        """Close connections."""


class Sender:
    """A background task for one channel."""

    def __init__(self, outbox: Outbox, channel: Channel, carrier: MessageSink, most: int) -> None:
        """At most ``most`` messages may wait; older ones are dropped."""
        self._outbox = outbox
        self._channel = channel
        self._carrier = carrier
        self._most = most
        self._wakeup = asyncio.Event()
        # Lane -> end of its pause on the loop's clock, and the number of failures in a row.
        self._resting: dict[str, tuple[float, int]] = {}
        self._background = Background(self._run)
        outbox.listen(self._wakeup.set)

    def start(self) -> None:
        """Start with the messages of earlier processes."""
        self._background.start()

    async def close(self) -> None:
        """Stop; the next process sends the remaining messages."""
        await self._background.close()
        self._carrier.close()

    async def _run(self) -> None:
        while True:
            self._wakeup.clear()
            pause = LOOK_AGAIN
            try:
                pause = await self._send_batch()
            except StoreError as fault:
                log.warning("messages not sent", channel=self._channel, reason=str(fault))
            except Exception:
                log.exception("messages not sent; it is tried again", channel=self._channel)
            if pause > 0:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._wakeup.wait()

    async def _send_batch(self) -> float:
        """Send a batch of messages; return the seconds to wait for the next one."""
        resting = self._at_rest()
        if len(resting) >= MOST_RESTING:
            await asyncio.sleep(BACKOFF.first_seconds)
            return 0
        messages = await self._outbox.waiting(self._channel, AT_ONCE, resting)
        lanes: dict[str, list[Message]] = {}
        for message in messages:
            lanes.setdefault(message.lane, []).append(message)
        for lane in self._resting.keys() - resting - lanes.keys():
            del self._resting[lane]  # Its messages are gone. New ones start a new lane.
        await asyncio.gather(*(self._send(lane, waiting) for lane, waiting in lanes.items()))
        if len(messages) == AT_ONCE or self._resting:
            await self._trim()
        if len(messages) == AT_ONCE:
            return 0
        now = asyncio.get_running_loop().time()
        return min([LOOK_AGAIN, *(max(until - now, 0.01) for until, _ in self._resting.values())])

    def _at_rest(self) -> set[str]:
        now = asyncio.get_running_loop().time()
        return {lane for lane, (until, _) in self._resting.items() if until > now}

    async def _send(self, lane: str, messages: Sequence[Message]) -> None:
        arrived = await self._carrier.carry(messages)
        if arrived:
            await self._outbox.delivered(messages[:arrived])
        if arrived == len(messages):
            self._resting.pop(lane, None)
            return
        failures = 0 if arrived else self._resting.get(lane, (0.0, 0))[1]
        until = asyncio.get_running_loop().time() + BACKOFF.pause(failures)
        self._resting[lane] = until, failures + 1

    async def _trim(self) -> None:
        dropped = await self._outbox.trim(self._channel, self._most)
        if dropped:
            log.warning(
                "messages dropped: nobody takes them", channel=self._channel, messages=dropped
            )
