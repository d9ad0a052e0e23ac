"""Notifications between the processes of an installation, sent after each commit.

Each line has the name of the sender, a kind, and ids. Unknown kinds are those of a later release.
The database delivers all notifications in order. Those sent while a connection is lost are lost,
too, so a listener that reconnects has to read the state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import psycopg

from stoker.concurrency.background import Background
from stoker.kernel.logs.log import Log

log = Log(__name__)

# Events have their own channel: they are the most frequent notifications, and engines do not use
# them.
CHANNEL, EVENTS = "stoker_news", "stoker_events"
AGAIN_AFTER = 1.0  # seconds after a failure until this process listens again
CHECK = 5.0  # seconds of silence after which the database is pinged
ANSWERS = 10.0  # seconds within which it must answer

# Handles the ids of notifications; the flag says whether this process has sent them.
NotificationHandler = Callable[[Sequence[str], bool], None]


def words_of(fault: Exception) -> str:
    """Return the text of a fault of the database, in one line."""
    return str(fault.__cause__ or fault).partition("\n")[0]


class NotificationListener:
    """Listens to notifications, and calls the handler of their kind."""

    def __init__(
        self,
        conninfo: str,
        own_name: str,
        handlers: Mapping[str, NotificationHandler],
        missed: Callable[[], None],
    ) -> None:
        """``missed`` is called whenever notifications may have been lost."""
        self._conninfo = conninfo
        self._own_name = own_name
        self._handlers = handlers
        self._missed = missed
        self._background = Background(self._listen)

    async def start(self) -> None:
        """Start to listen."""
        self._background.start()

    async def close(self) -> None:
        """Listen no more."""
        await self._background.close()

    async def _listen(self) -> None:
        while True:
            try:
                await self._receive()
            except (psycopg.Error, OSError, TimeoutError) as fault:
                log.warning("not listening for news", reason=words_of(fault))
            await asyncio.sleep(AGAIN_AFTER)

    async def _receive(self) -> None:
        async with asyncio.timeout(ANSWERS):
            connection = await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True)
        async with connection:
            for channel in (CHANNEL, EVENTS) if "events" in self._handlers else (CHANNEL,):
                await connection.execute(f"LISTEN {channel}")
            # Not before LISTEN: from then on no notification is lost, so one read of the state is
            # enough.
            self._missed()
            while True:
                async for notification in connection.notifies(timeout=CHECK):
                    self._handle(notification.payload)
                async with asyncio.timeout(ANSWERS):
                    await connection.execute("SELECT 1")

    def _handle(self, payload: str) -> None:
        sender, kind, *about = payload.split()
        if (handler := self._handlers.get(kind)) is not None:
            handler(about, sender == self._own_name)
