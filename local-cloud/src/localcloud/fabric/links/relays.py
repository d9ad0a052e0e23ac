"""Connections between the host and servers: bytes carried to and fro, and the metadata service.

Everything here runs on the cloud's event loop, on sockets that were opened in the namespaces of
servers. A connection that cannot be made is refused within seconds. An idle connection is kept
while both ends live, unless only one direction is still open: connection tracking forgets such a
connection after a minute, and its end would never arrive. Each owner has a bounded number of
connections, because they cost the cloud's process two file descriptors each.
"""

import asyncio
import contextlib
import errno
import resource
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Hashable
from functools import cached_property

from localcloud.fabric.interface import Server
from localcloud.fabric.links.metadata import Answer, respond

CONNECT_SECONDS = 5.0
_SO_ORIGINAL_DST = 80
_CHUNK = 1 << 16
HALF_OPEN_SECONDS = 60.0  # idle time of a connection after one direction has ended
_CLOSING_SECONDS = 10.0
# Seconds, seconds and a number: a peer that vanished is noticed within two minutes.
_KEEPALIVE = {socket.TCP_KEEPIDLE: 60, socket.TCP_KEEPINTVL: 15, socket.TCP_KEEPCNT: 4}
MOST_OF_OWNER = 256  # connections of one server, or of one address behind a router
# Of what the process may open, for each connection: two are used, and half is left for others.
_DESCRIPTORS_EACH = 4
# Where `struct tcp_info` has the milliseconds since data were sent and received.
_LAST_SENT, _LAST_RECEIVED = slice(44, 48), slice(52, 56)
_LARGEST_REQUEST = 16 << 10
_REQUEST_SECONDS = 30.0
_ACCEPT_PAUSE_SECONDS = 0.05
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[], Awaitable[Streams]]


class _Carrier:
    """Carries bytes between two connections until both directions have ended."""

    def __init__(self, near: Streams, far: Streams) -> None:
        self._near, self._far = near, far
        self._carried = 0

    async def carry(self, half_open_seconds: float) -> None:
        """Return when both directions have ended, or the one that is left has been idle."""
        (near_reader, near_writer), (far_reader, far_writer) = self._near, self._far
        left = {
            asyncio.ensure_future(self._copy(near_reader, far_writer)),
            asyncio.ensure_future(self._copy(far_reader, near_writer)),
        }
        every = list(left)
        try:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            while left and not any(task.exception() for task in done):
                before = self._carried
                done, left = await asyncio.wait(left, timeout=half_open_seconds)
                if not done and self._carried == before:
                    break
        finally:
            for task in every:
                task.cancel()
            await asyncio.gather(*every, return_exceptions=True)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
            self._carried += len(data)
        if writer.can_write_eof():
            writer.write_eof()


async def relay(near: Streams, dial: Dial, *, half_open_seconds: float = HALF_OPEN_SECONDS) -> None:
    """Carry a connection to the one that ``dial`` makes, until both directions have ended."""
    with contextlib.suppress(OSError):
        async with asyncio.timeout(CONNECT_SECONDS):
            far = await dial()
        try:
            _keep_alive(far[1])
            await _Carrier(near, far).carry(half_open_seconds)
        finally:
            await _close(far[1])


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close a connection; drop bytes that the peer does not read within some seconds."""
    writer.close()
    try:
        async with asyncio.timeout(_CLOSING_SECONDS):
            await writer.wait_closed()
    except (OSError, asyncio.CancelledError):
        writer.transport.abort()
        raise


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    """Let the kernel end a connection whose peer has vanished."""
    connection: socket.socket = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):  # not every stream is TCP
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE.items():
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


class ConnectionLimits:
    """Bounds the connections of each owner, and of all owners together.

    Where there are too many, one gives way that has been idle longest: of the owner, or of the
    owner that has most.
    """

    def __init__(self, of_owner: int = MOST_OF_OWNER, together: int | None = None) -> None:
        self._of_owner = of_owner
        self._given = together
        self._open: dict[Hashable, dict[asyncio.Task[None], socket.socket]] = {}

    @cached_property
    def _together(self) -> int:
        if self._given is not None:
            return self._given
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return files // _DESCRIPTORS_EACH

    def enter(self, owner: Hashable, task: "asyncio.Task[None]", connection: socket.socket) -> None:
        """Count a connection, which ``task`` serves, until that ends."""
        own = self._open.get(owner, {})
        if len(own) >= self._of_owner:
            self._drop(owner)
        elif sum(map(len, self._open.values())) >= self._together:
            self._drop(max(self._open, key=lambda each: len(self._open[each])))
        self._open.setdefault(owner, {})[task] = connection
        task.add_done_callback(lambda ended: self._leave(owner, ended))

    def _drop(self, owner: Hashable) -> None:
        own = self._open[owner]
        task = max(own, key=lambda each: _idle_milliseconds(own[each]))
        self._leave(owner, task)
        task.cancel()

    def _leave(self, owner: Hashable, task: "asyncio.Task[None]") -> None:
        own = self._open.get(owner, {})
        own.pop(task, None)
        if not own:
            self._open.pop(owner, None)


def _idle_milliseconds(connection: socket.socket) -> int:
    """Return for how long no data has passed over a connection, as the kernel says."""
    try:
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 64)
    except OSError:
        return 0
    return min(int.from_bytes(info[each], "little") for each in (_LAST_SENT, _LAST_RECEIVED))


LIMITS = ConnectionLimits()  # of this process: its descriptors are what all relays share


def original_destination(connection: socket.socket) -> tuple[str, int]:
    """The address and port that a connection was meant for, before a redirection."""
    if connection.family == socket.AF_INET6:
        level, size, form, at = socket.IPPROTO_IPV6, 28, ">2xH4x16s", socket.AF_INET6
    else:
        level, size, form, at = socket.SOL_IP, 16, ">2xH4s", socket.AF_INET
    try:
        raw = connection.getsockopt(level, _SO_ORIGINAL_DST, size)
    except OSError:
        # There is no connection tracking here, so nothing was redirected.
        address, port, *_ = connection.getsockname()
        return str(address), int(port)
    port, packed = struct.unpack_from(form, raw)
    return socket.inet_ntop(at, packed), int(port)


async def await_connection(connection: socket.socket) -> Streams:
    """Wait until a connection that was started elsewhere is open; OSError if it is refused."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def stands() -> None:
        if not done.done():
            done.set_result(None)

    loop.add_writer(connection.fileno(), stands)
    try:
        try:
            await done
        finally:
            loop.remove_writer(connection.fileno())
        number = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number:
            raise OSError(number, "the server refused the connection")
    except BaseException:
        connection.close()
        raise
    return await asyncio.open_connection(sock=connection)


def _head(answer: Answer) -> bytes:
    return (
        f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}\r\n"
        f"Content-Type: {answer.content_type}\r\n"
        f"Content-Length: {len(answer.body)}\r\n"
        "Connection: close\r\n\r\n"
    ).encode()


async def serve_metadata(server: Server, near: Streams) -> None:
    """Return one HTTP request with the metadata of the server that owns the socket."""
    reader, writer = near
    try:
        async with asyncio.timeout(_REQUEST_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            method, path, *_ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            if method in ("GET", "HEAD"):
                answer = respond(server, path)
            else:
                answer = Answer(405, b"405 Method Not Allowed\n")
            writer.write(_head(answer) + (b"" if method == "HEAD" else answer.body))
            await writer.drain()
    except (OSError, ValueError, EOFError, asyncio.LimitOverrunError):
        writer.write(_head(Answer(400, b"")))


Owner = Callable[[socket.socket], Hashable]  # returns the owner of a connection


class Listener:
    """Serves each connection to a listening socket until it is closed.

    Connections with the same ``owner`` share a limit; by default, all of this listener do.
    """

    def __init__(
        self,
        sock: socket.socket,
        handle: Callable[[Streams], Awaitable[None]],
        tls: ssl.SSLContext | None = None,
        *,
        owner: Owner | None = None,
        limits: ConnectionLimits = LIMITS,
    ) -> None:
        self._owner = owner or (lambda _: self)
        self._limits = limits
        self.tls = tls  # of new connections; None without TLS
        self._socket = sock
        self._handle = handle
        self._connections: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(sock.fileno(), self._accept)

    def close(self) -> None:
        """Stop listening and drop the connections there are; again is fine."""
        if self._socket.fileno() < 0:
            return
        # Before the number is free for another socket.
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        for connection in self._connections:
            connection.cancel()

    async def ended(self) -> None:
        """Return when all connections have ended."""
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._pause()
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._serve(connection))
        self._limits.enter(self._owner(connection), task, connection)
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    def _pause(self) -> None:
        # Too many open files: stop accepting. Pending connections stay in the backlog.
        self._loop.remove_reader(self._socket.fileno())
        self._loop.call_later(_ACCEPT_PAUSE_SECONDS, self._resume)

    def _resume(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket.fileno(), self._accept)

    async def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            near = await self._opened(connection)
            _keep_alive(near[1])
            try:
                await self._handle(near)
            finally:
                await _close(near[1])

    async def _opened(self, connection: socket.socket) -> Streams:
        if self.tls is None:
            return await asyncio.open_connection(sock=connection, limit=_LARGEST_REQUEST)
        reader = asyncio.StreamReader(limit=_LARGEST_REQUEST)
        protocol = asyncio.StreamReaderProtocol(reader)
        accepting = self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=self.tls)
        transport, _ = await accepting
        return reader, asyncio.StreamWriter(transport, protocol, reader, self._loop)
