"""HTTP connections: bounded in number, and in the time and size of heads and the pace of bodies.

Where there are too many connections, one whose client owes the rest of a request gives way: the
oldest one of the owner that has most of them. All users of a machine connect from the same
address, so the owner is the project of the token, and requests without one share an owner.
"""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Collection
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from localcloud.core.disturbances import CUT
from localcloud.web.http import OWNER


class Connection(HttpToolsProtocol):
    """One connection. A disturbance can cut it."""

    most = 1000  # connections at the same time
    head_seconds = 20.0  # for the address and the headers of a request
    head_bytes = 1 << 16
    body_seconds = 60.0  # for each further part of a body
    owner = ""  # the project that makes the request; empty until its token is checked
    since = 0.0  # when the client started to owe a request, or the rest of one
    _late: asyncio.TimerHandle
    in_body = False
    _heard = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the head of a request."""
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > self.most:
            waiting: list[Any] = [c for c in self.connections if c is not self and _owes(c)]
            (_first_to_go(waiting) or self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        self._late.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; of one whose head is too long no more is taken."""
        self._heard = self.loop.time()
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
        """Add the function that cuts the connection to the scope of the request."""
        super().on_message_begin()
        self._late.cancel()
        self._expect_head()
        # The next request on this connection may have the token of another project.
        self.owner = ""
        announced = partial(setattr, self, "owner")
        self.scope["extensions"] = {CUT: self._cut, OWNER: announced}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        """Start the timeout for the body."""
        self._late.cancel()
        self._in_head, self.in_body = False, True
        self.since = self.loop.time()
        self._expect_body(self.body_seconds)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Stop the timeout until the next request."""
        self._late.cancel()
        self.in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start to wait for the next request."""
        self.since = self.loop.time()
        super().on_response_complete()

    def _expect_head(self) -> None:
        self._in_head, self.in_body, self._head_size = True, False, 0
        self.since = self.loop.time()
        self._late = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _expect_body(self, seconds: float) -> None:
        self._late = self.loop.call_later(seconds, self._check_body)

    def _check_body(self) -> None:
        """End the connection if its body has stopped arriving, unless the service stopped it."""
        elapsed = self.loop.time() - self._heard
        if self.flow.read_paused:
            # The service does not read. The client is not late.
            self._expect_body(self.body_seconds)
        elif elapsed < self.body_seconds:
            self._expect_body(self.body_seconds - elapsed)
        else:
            self.transport.abort()

    def _cut(self, *, flush: bool) -> None:
        if flush:
            self.transport.close()
            return
        # A reset and no orderly end, as a client sees it when a service has died.
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


def _owes(connection: Any) -> bool:
    """Return whether a connection waits for its client to send more."""
    if connection.cycle is None or connection.cycle.response_complete:
        return True
    return connection.in_body and not connection.flow.read_paused


def _first_to_go(waiting: Collection[Any]) -> Any:
    """Return the connection of these that gives way; None without any.

    It is one of the owner that has most of them, without a request if there is such, the oldest.
    """
    counts = Counter(connection.owner for connection in waiting)

    def order(connection: Any) -> tuple[int, bool, float]:
        return -counts[connection.owner], connection.in_body, connection.since

    return min(waiting, key=order, default=None)
