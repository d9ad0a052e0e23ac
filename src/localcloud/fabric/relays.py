"""Connections between the host and servers: bytes carried to and fro, and the metadata service.

Everything here runs on the cloud's event loop, on sockets that were opened in the namespaces of
servers. A connection that idles is kept; one that cannot be made is refused within seconds.
"""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable

from localcloud.fabric.interface import Server
from localcloud.fabric.metadata import Answer, respond

CONNECT_SECONDS = 5.0
_SO_ORIGINAL_DST = 80
_CHUNK = 1 << 16
_LARGEST_REQUEST = 16 << 10
_REQUEST_SECONDS = 30.0
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
    far_writer = None
    with contextlib.suppress(OSError, asyncio.TimeoutError):
        async with asyncio.timeout(CONNECT_SECONDS):
            far_reader, far_writer = await dial()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(near_reader, far_writer))
                group.create_task(_copy(far_reader, near_writer))
        except* OSError:
            pass
    for writer in (near_writer, far_writer):
        if writer is not None:
            writer.close()


def original_destination(connection: socket.socket) -> tuple[str, int]:
    """The address and port that a redirected connection was meant for; OSError if it was not."""
    raw = connection.getsockopt(socket.SOL_IP, _SO_ORIGINAL_DST, 16)
    port, address = struct.unpack_from(">2xH4s", raw)
    return socket.inet_ntoa(address), int(port)


async def await_connection(connection: socket.socket) -> Streams:
    """Wait until a connection that was begun elsewhere stands; OSError when it is refused."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    loop.add_writer(connection.fileno(), lambda: done.done() or done.set_result(None))
    try:
        await done
    finally:
        loop.remove_writer(connection.fileno())
    number = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if number:
        raise OSError(number, "the server refused the connection")
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
    except (OSError, ValueError, EOFError, asyncio.LimitOverrunError, asyncio.TimeoutError):
        writer.write(_head(Answer(400, b"")))
    finally:
        writer.close()


async def listen(
    sock: socket.socket, handle: Callable[[Streams], Awaitable[None]]
) -> asyncio.Server:
    """Serve each connection to a listening socket."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await handle((reader, writer))

    return await asyncio.start_server(accept, sock=sock, limit=_LARGEST_REQUEST)
