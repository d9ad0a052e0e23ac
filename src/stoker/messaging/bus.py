"""Publishes notifications on the message bus in Heat's format, through oslo.messaging.

The library is imported with the first notification. Its own notifier swallows failures. They must
be known here, since a notification is deleted from the outbox only when the broker has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from queue import SimpleQueue
from threading import Thread
from typing import Any

from stoker.engine.model.records import Message
from stoker.kernel.lazy import LazyModule
from stoker.kernel.logs.log import Log
from stoker.messaging.sender import MessageSink
from stoker.messaging.settings import BusSettings

oslo = LazyModule("stoker.messaging.oslo")
log = Log(__name__)

_Job = tuple[Sequence[Message], "Future[int]"]


class Bus(MessageSink):
    """Publishes notifications, on its own thread.

    The thread is never joined: it may wait for an unavailable broker, and the library's imports
    make threads that import it impossible to join.
    """

    def __init__(self, settings: BusSettings) -> None:
        self._settings = settings
        self._publisher: Any = None
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: Thread | None = None

    async def carry(self, messages: Sequence[Message]) -> int:
        """Publish the messages; return how many of them the broker accepted."""
        if self._thread is None:
            self._thread = Thread(target=self._work, name="notifications", daemon=True)
            self._thread.start()
        done: Future[int] = Future()
        self._jobs.put((messages, done))
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """Close the connections after the current message."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            messages, done = job
            if done.set_running_or_notify_cancel():
                done.set_result(self._publish(messages))
        if self._publisher is not None:
            self._publisher.close()

    def _publish(self, messages: Sequence[Message]) -> int:
        for sent, message in enumerate(messages):
            try:
                if self._publisher is None:
                    self._publisher = oslo.Publisher(self._settings)
                if message.body:
                    self._publisher.publish(self._notification(message), message.body["context"])
            except Exception as error:  # noqa: BLE001 - a broker that is away is not our fault
                lines = str(error).splitlines()
                reason = lines[0] if lines else type(error).__name__
                log.warning("notifications wait: the message bus does not take them", error=reason)
                return sent
        return len(messages)

    def _notification(self, message: Message) -> Mapping[str, Any]:
        moment = datetime.fromtimestamp(message.created_at, UTC).replace(tzinfo=None)
        return {
            "message_id": message.id,
            "publisher_id": self._settings.publisher_id,
            "timestamp": moment.isoformat(" ", "microseconds"),
            "priority": message.body["priority"] or self._settings.level,
            "event_type": message.body["event_type"],
            "payload": message.body["payload"],
        }
