"""Limits on connections that uvicorn does not have.

Uvicorn limits how long a connection may be idle after a response. It does not limit anything before
an application is called: the time that a client takes for its headers and its body, and the number
and size of headers (the parser collects them, in quadratic time). Nor does it limit the number of
connections, or the time that a client leaves a response unread. All of this is limited here.

When connections or the memory for bodies run out, a connection is closed whose client owes the rest
of a request. It is one of the owner that has most of them, so that an owner can only crowd out
itself. The owner is the project of the token once that is known; all other requests share one
owner.
"""

from __future__ import annotations

import asyncio
import enum
import json
import resource
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SWEEP_SECONDS = 1.0
# The extension of the scope in which an application announces the project of a request.
OWNER = "stoker.owner"
_CROWDED = "There are as many connections as the service takes; try again later."
_FULL = "The unfinished requests are too large together; try again later."
_DRAINED = 1024 * 1024  # bytes of a body that are still read once the request is answered
_FRAMING = 8  # bytes of framing that a client may spend per byte of a chunked body


class ConnectionLimits(Struct, frozen=True):
    """Limits of clients; sizes in bytes, times in seconds."""

    connections: int = 1000
    connections_per_address: int = 250  # per IPv4 address, or per IPv6 network of 64 bits
    header_size: int = 65536  # bytes of the request line and all headers
    header_count: int = 128
    # Seconds from the first byte of a request, or from the start of the connection.
    header_time: float = 20.0
    # Seconds for a body, plus one second for each ``slowest_rate`` bytes of it.
    body_time: float = 30.0
    slowest_rate: int = 4096  # bytes per second; also the rate at which a response must be read
    body_bytes: int = 128 * 1024 * 1024  # bytes of one owner in unanswered requests
    # Seconds after which a response must have been read at the slowest rate.
    unread_time: float = 30.0


def limits_from(listener: Any) -> ConnectionLimits:
    """Return the limits of a listener's options, within the process's limit of open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = listener.max_connections
    return ConnectionLimits(
        connections=most if files == resource.RLIM_INFINITY else min(most, max(files // 2, 1)),
        connections_per_address=listener.max_connections_per_address,
        header_size=4 * listener.max_header_line,
    )


class _Phase(enum.Enum):
    HEADERS = enum.auto()
    BODY = enum.auto()
    NOTHING = enum.auto()  # the request is complete; the client owes nothing


class _LimitError(Exception):
    """The request exceeds a limit. The text is for the client."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class ConnectionGate:
    """All connections of one server. Used on the event loop only."""

    def __init__(self, limits: ConnectionLimits, now: Callable[[], float] | None = None) -> None:
        self.limits = limits
        self._now = now
        self._open: set[GuardedProtocol] = set()
        self._by_network: Counter[str] = Counter()
        # Bytes of the bodies of unanswered requests, by owner.
        self._bodies: Counter[str] = Counter()
        self._sweeping: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        """Return the number of open connections."""
        return len(self._open)

    def now(self) -> float:
        """Return the time for the limits."""
        return asyncio.get_running_loop().time() if self._now is None else self._now()

    def enter(self, connection: GuardedProtocol) -> bool:
        """Count a connection, and return whether it may stay.

        If there are too many, one that waits for its client is closed: clients that only keep
        connections open must not exclude others.
        """
        network = connection.network
        crowded = self._by_network[network] >= self.limits.connections_per_address
        full = len(self._open) >= self.limits.connections
        stays = not (crowded or full) or self._make_room(network if crowded else None)
        self._open.add(connection)
        self._by_network[network] += 1
        if self._sweeping is None:
            self._schedule()
        return stays

    def leave(self, connection: GuardedProtocol) -> None:
        """Remove a connection from the counts."""
        if connection in self._open:
            self._open.discard(connection)
            self._by_network[connection.network] -= 1
            if not self._by_network[connection.network]:
                del self._by_network[connection.network]

    def _make_room(self, network: str | None) -> bool:
        """Close one connection that waits for its client, of one network or of all.

        It is one of the owner that has most of them: preferably one without a request, and the one
        that has waited longest.
        """
        waiting = [
            connection
            for connection in self._open
            if connection.is_waited_for and network in (None, connection.network)
        ]
        if not waiting:
            return False
        counts = Counter(connection.held.owner for connection in waiting)

        def order(connection: GuardedProtocol) -> tuple[int, bool, float]:
            return -counts[connection.held.owner], connection.owes_body, connection.since

        oldest = min(waiting, key=order)
        oldest.refuse(_too_slow(_CROWDED))
        self.leave(oldest)
        return True

    def hold(self, owner: str, size: int) -> None:
        """Count bytes of a body.

        If its owner has too many, the largest unfinished body is rejected.
        """
        self._bodies[owner] += size
        if self._bodies[owner] > self.limits.body_bytes:
            unfinished = (c for c in self._open if c.held.owner == owner and c.owes_body)
            largest = max(unfinished, key=lambda connection: connection.held.size, default=None)
            if largest is not None:
                largest.refuse(_too_slow(_FULL))

    def release(self, owner: str, size: int) -> None:
        """Remove bytes of a body from the counts."""
        self._bodies[owner] -= size
        if not self._bodies[owner]:
            del self._bodies[owner]

    def sweep(self) -> None:
        """Close the connections whose time limit has passed."""
        now = self.now()
        for connection in list(self._open):
            connection.close_if_overdue(now)

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep_and_go_on)

    def _sweep_and_go_on(self) -> None:
        self._sweeping = None
        self.sweep()
        if self._open:
            self._schedule()


class HeldBody:
    """The bytes of one request's body in memory until the response, and their owner."""

    def __init__(self, gate: ConnectionGate) -> None:
        self._gate = gate
        self.owner = ""  # project of the request; empty while it is not known
        self.size = 0

    def add(self, size: int) -> None:
        """Count a part of the body."""
        self.size += size
        self._gate.hold(self.owner, size)

    def own(self, owner: str) -> None:
        """Count the body for its owner, which is known now."""
        size = self.size
        self.release()
        self.owner = owner
        self.add(size)

    def release(self) -> None:
        """Remove the body from the counts."""
        self._gate.release(self.owner, self.size)
        self.size = 0


class _Unread(Struct, frozen=True):
    """A response that its client reads more slowly than it is sent."""

    since: float
    size: int  # bytes to read then

    def is_too_slow(self, now: float, left: int, limits: ConnectionLimits) -> bool:
        """Return whether the client reads too slowly: ``left`` bytes are not sent yet."""
        return self.size - left < (now - self.since) * limits.slowest_rate


class GuardedProtocol(HttpToolsProtocol):
    """One connection within the limits of a gate."""

    network = ""  # the address that connections are counted by
    since = 0.0  # start of the current phase of the client

    def __init__(self, gate: ConnectionGate, **options: Any) -> None:
        super().__init__(**options)
        self._gate = gate
        self._limits = gate.limits
        self._phase = _Phase.HEADERS
        self._has_received = False
        self._overhead = 0  # bytes of the request outside the body: a bound for the parser's memory
        self._body = 0
        self._header_size = 0
        self._drained = 0
        self._refusal: _LimitError | None = None
        self._unread: _Unread | None = None
        self.held = HeldBody(gate)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, unless there are too many."""
        super().connection_made(transport)
        self.network = _network_of(self.client)
        self.since = self._gate.now()
        if not self._gate.enter(self):
            self._has_received = True
            self.refuse(_LimitError(HTTPStatus.SERVICE_UNAVAILABLE, _CROWDED))

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection."""
        self.held.release()
        self._gate.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes, unless the request was rejected already."""
        if self._refusal is not None:
            return
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self._phase is _Phase.NOTHING:
            self._enter(_Phase.HEADERS)  # also for bytes that start no request
        self._has_received = True
        self._overhead += len(data)
        super().data_received(data)
        if self._refusal is None and self._phase is not _Phase.NOTHING:
            most = self._limits.header_size + _FRAMING * self._body
            if self._overhead - self._body > most + len(data):
                self.refuse(_too_large("The headers are too large."))

    def send_400_response(self, msg: str) -> None:
        """Respond to a request that cannot be parsed, or that one of the callbacks has rejected."""
        self.refuse(self._refusal or _LimitError(HTTPStatus.BAD_REQUEST, msg))

    def on_message_begin(self) -> None:
        """Handle the start of a request."""
        super().on_message_begin()
        self.held.release()
        self.held.owner = ""
        self.scope["extensions"] = {OWNER: self.held.own}  # type: ignore[dict-item]
        self._enter(_Phase.HEADERS)
        self._overhead = self._body = self._header_size = self._drained = 0

    def on_url(self, url: bytes) -> None:
        """Count a part of the URL."""
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header or trailer."""
        super().on_header(name, value)
        self._count(len(name) + len(value) + 4)

    def on_headers_complete(self) -> None:
        """Handle the end of the headers; the body follows."""
        self._enter(_Phase.BODY)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count a part of the body."""
        self._body += len(body)
        self.held.add(len(body))
        if self.cycle.response_complete:
            self._drained += len(body)
            if self._drained > _DRAINED:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle the end of the request."""
        self._enter(_Phase.NOTHING)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Handle the end of the response."""
        self.held.release()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Handle a client that reads too slowly for the response."""
        super().pause_writing()
        self._unread = _Unread(self._gate.now(), self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Continue: the client has read most of the sent bytes."""
        super().resume_writing()
        self._unread = None

    @property
    def is_waited_for(self) -> bool:
        """Return whether the connection only waits for the client to send more."""
        if self._refusal is not None or self.transport.is_closing():
            return False
        answered = self.cycle is None or self.cycle.response_complete
        return answered or self.owes_body

    @property
    def owes_body(self) -> bool:
        """Return whether the service reads a body whose rest the client has not sent yet."""
        return self._phase is _Phase.BODY and not self.flow.read_paused

    def close_if_overdue(self, now: float) -> None:
        """Close the connection if the client has taken longer than it may."""
        limits = self._limits
        if self.flow.read_paused:
            self.since = now  # the service has paused, not the client
        elapsed = now - self.since
        if self._refusal is not None:
            if elapsed > limits.unread_time:
                self.transport.abort()
        elif self._phase is _Phase.HEADERS and elapsed > limits.header_time:
            self.refuse(_too_slow("The headers did not arrive in time."))
        elif (
            self._phase is _Phase.BODY
            and elapsed > limits.body_time + self._body / limits.slowest_rate
        ):
            self.refuse(_too_slow("The body did not arrive in time."))
        if self._unread is not None and now - self._unread.since >= limits.unread_time:
            left = self.transport.get_write_buffer_size()
            if self._unread.is_too_slow(now, left, limits):
                self.transport.abort()
            else:
                self._unread = _Unread(now, left)

    def _enter(self, phase: _Phase) -> None:
        self._phase, self.since = phase, self._gate.now()

    def _count(self, size: int) -> None:
        """Count bytes of the headers; stop the parser if there are too many."""
        limits = self._limits
        self._header_size += size
        if self._header_size > limits.header_size:
            most = f"{limits.header_size} bytes"
            self._refusal = _too_large(f"The address and the headers have more than {most}.")
            raise self._refusal
        if len(self.headers) > limits.header_count:
            self._refusal = _too_large(f"There are more than {limits.header_count} headers.")
            raise self._refusal

    def refuse(self, refusal: _LimitError) -> None:
        """Respond with an error, unless a response has started, and close the connection."""
        self._refusal, self.since = refusal, self._gate.now()
        self.held.release()
        cycle = self.cycle
        expects_response = self._has_received
        if cycle is not None and cycle.response_complete:
            expects_response = self._phase is _Phase.HEADERS
        elif cycle is not None:
            expects_response = not cycle.response_started
            cycle.disconnected = True
            cycle.message_event.set()
        if expects_response:
            self.transport.write(_fault(refusal.status, str(refusal)))
        self.transport.close()


def _too_large(message: str) -> _LimitError:
    return _LimitError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, message)


def _too_slow(message: str) -> _LimitError:
    return _LimitError(HTTPStatus.REQUEST_TIMEOUT, message)


def _network_of(client: tuple[str, int] | None) -> str:
    """Return the address under which connections are counted; empty for sockets without one."""
    if client is None:
        return ""
    try:
        address = ip_address(client[0].partition("%")[0])
    except ValueError:
        return client[0]
    if address.version == 4:
        return str(address)
    return str(address.ipv4_mapped or int(address) >> 64)


def _fault(status: HTTPStatus, message: str) -> bytes:
    fault = {
        "code": status.value,
        "title": status.phrase,
        "explanation": message,
        "error": {"type": "HTTPError", "message": message, "traceback": None},
    }
    content = json.dumps(fault).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + content
