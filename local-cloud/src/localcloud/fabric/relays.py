"""Connections between the host and servers: bytes carried to and fro, and the metadata service.

Everything here runs on the cloud's event loop, on sockets that were opened in the namespaces of
servers. A connection that idles is kept; one that cannot be made is refused within seconds.
"""

import asyncio
import contextlib
import errno
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable

from localcloud.fabric.interface import Server
from localcloud.fabric.metadata import Answer, respond

CONNECT_SECONDS = 5.0
_SO_ORIGINAL_DST = 80
_CHUNK = 1 << 16
_LARGEST_REQUEST = 16 << 10
_REQUEST_SECONDS = 30.0
_ACCEPT_PAUSE_SECONDS = 0.05
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[], Awaitable[Streams]]


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def relay(near: Streams, dial: Dial) -> None:
    """Carry a connection to the one that ``dial`` makes, until both directions have ended."""
    near_reader, near_writer = near
    with contextlib.suppress(OSError):
        async with asyncio.timeout(CONNECT_SECONDS):
            far_reader, far_writer = await dial()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(near_reader, far_writer))
                group.create_task(_copy(far_reader, near_writer))
        except* OSError:
            pass
        finally:
            far_writer.close()


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
    """Wait until a connection that was begun elsewhere stands; OSError when it is refused."""
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
    """Answer one HTTP request with the metadata of the server whose socket it came to."""
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


class Listener:
    """Serves each connection to a listening socket until it is closed."""

    def __init__(
        self,
        sock: socket.socket,
        handle: Callable[[Streams], Awaitable[None]],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.tls = tls
        """How new connections speak TLS; None for those that do not."""
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
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    def _pause(self) -> None:
        # Too many open files: what waits is taken when some have been closed.
        self._loop.remove_reader(self._socket.fileno())
        self._loop.call_later(_ACCEPT_PAUSE_SECONDS, self._resume)

    def _resume(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket.fileno(), self._accept)

    async def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            near = await self._opened(connection)
            try:
                await self._handle(near)
            finally:
                near[1].close()

    async def _opened(self, connection: socket.socket) -> Streams:
        if self.tls is None:
            return await asyncio.open_connection(sock=connection, limit=_LARGEST_REQUEST)
        reader = asyncio.StreamReader(limit=_LARGEST_REQUEST)
        protocol = asyncio.StreamReaderProtocol(reader)
        accepting = self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=self.tls)
        transport, _ = await accepting
        return reader, asyncio.StreamWriter(transport, protocol, reader, self._loop)
