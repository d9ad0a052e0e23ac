"""HTTP connections: bounded in number, and each in how long and how much it may take to ask."""

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from localcloud.disturbances import CUT


class Connection(HttpToolsProtocol):
    """One connection. A disturbance can cut it."""

    most = 1000
    """Connections at once. One that waits for nothing gives way to a new one."""
    head_seconds = 20.0
    """For the address and the headers of a request."""
    head_bytes = 1 << 16
    _late: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > self.most:
            waiting = (c for c in self.connections if c is not self and _waits(c))
            next(waiting, self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._late.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; of one whose head is too long no more is taken."""
        while self._in_head and data and not self.transport.is_closing():
            # A body that comes along with its head does not count.
            part = data[: self.head_bytes - self._head_size]
            if not part:
                self.transport.abort()
                return
            self._head_size += len(part)
            data = data[len(part) :]
            super().data_received(part)
        if data:
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Put what cuts the connection beside the request."""
        super().on_message_begin()
        self._late.cancel()
        self._expect_head()
        self.scope["extensions"] = {CUT: self._cut}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        """The head is there in time."""
        self._late.cancel()
        self._in_head = False
        super().on_headers_complete()

    def _expect_head(self) -> None:
        self._in_head, self._head_size = True, 0
        self._late = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _cut(self, *, flush: bool) -> None:
        if flush:
            self.transport.close()
            return
        # a reset, not an orderly end: that is what a client sees of a service that has died
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


def _waits(connection: Any) -> bool:
    """Whether no request is being answered on a connection."""
    return connection.cycle is None or connection.cycle.response_complete
