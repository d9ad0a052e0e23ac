"""Limits on clients before an application is called: a real server, on a clock of the tests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, cast

import pytest
import uvicorn
from starlette.requests import Request

from stoker.api.connections import OWNER, ConnectionGate, ConnectionLimits, GuardedProtocol
from stoker.api.interface import read_body

LIMITS = ConnectionLimits(
    connections=6, connections_per_address=4, header_size=2000, body_bytes=1_000_000
)
GET = b"GET / HTTP/1.1\r\nHost: a\r\n"


class Served:
    """A server that answers with the size of the body, or with as many bytes as the path says."""

    def __init__(self) -> None:
        self.time = 0.0
        self.gate = ConnectionGate(LIMITS, lambda: self.time)
        self.asked = 0
        self.port = 0
        self.clients: list[Client] = []

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        scope["extensions"][OWNER](dict(scope["headers"]).get(b"x-owner", b"").decode())
        size, more = 0, True
        while more and not scope["path"].startswith("/early"):
            message = await receive()
            if message["type"] != "http.request":
                return
            size, more = size + len(message["body"]), message["more_body"]
        if scope["path"] == "/busy":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"busy", "more_body": True})
            await receive()  # the end of the connection
            return
        wanted = scope["path"].rpartition("/")[2]
        content = b"x" * int(wanted) if wanted.isdigit() else str(size).encode()
        headers = [(b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def connect(self, address: str = "127.0.0.1") -> Client:
        here = (address, 0)
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port, local_addr=here))
        self.clients.append(client)
        return client

    async def pass_time(self, seconds: float) -> None:
        """Let the sent bytes arrive, then let time pass."""
        await asyncio.sleep(0.05)
        self.time += seconds
        self.gate.sweep()


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of the next answer; status 0 where the connection is closed."""
        try:
            head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)
            size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            return int(head.split()[1]), await self.reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            return 0, b""

    async def is_closed(self) -> bool:
        """Return whether the server has closed the connection, or does so now."""
        with contextlib.suppress(ConnectionError, TimeoutError):
            return await asyncio.wait_for(self.reader.read(1), 10) == b""
        return self.reader.at_eof() or self.reader.exception() is not None


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    served = Served()
    listener = socket.create_server(("127.0.0.1", 0))
    served.port = listener.getsockname()[1]
    config = uvicorn.Config(
        served.app,
        http=cast("Any", partial(GuardedProtocol, served.gate)),
        ws="none",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup([listener])
    yield served
    for client in served.clients:
        client.writer.transport.abort()
    await asyncio.sleep(0.05)
    await server.shutdown([listener])


async def test_requests_within_limits_share_a_connection(served: Served) -> None:
    client = await served.connect()
    for _ in range(3):
        await client.send(GET + b"\r\n")
        assert await client.answer() == (200, b"0")
        served.time += 60
        served.gate.sweep()
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    await client.send(b"1\r\nx\r\n" * 5000 + b"0\r\n\r\n")
    assert await client.answer() == (200, b"5000")


@pytest.mark.parametrize(
    "headers",
    [
        b"X: " + b"a" * 2000 + b"\r\n\r\n",
        b"X: " + b"a" * 2_000_000,
        b"X: a\r\n" * 129 + b"\r\n",
        b"X" * 2_000_000,
    ],
    ids=["one too long", "one without end", "too many", "name without end"],
)
async def test_headers_beyond_limit_are_refused_while_received(
    served: Served, headers: bytes
) -> None:
    client = await served.connect()
    sending = asyncio.ensure_future(client.send(GET + headers))
    status, content = await client.answer()
    assert status in (431, 0)
    if content:
        assert json.loads(content)["code"] == 431
    assert await client.is_closed()
    await sending
    assert served.asked == 0


@pytest.mark.parametrize("path", [b"/" + b"a" * 3000, b"/" + b"a" * 2_000_000])
async def test_address_beyond_the_limit_is_refused(served: Served, path: bytes) -> None:
    client = await served.connect()
    await client.send(b"GET " + path + b" HTTP/1.1\r\n\r\n")
    assert (await client.answer())[0] in (431, 0)
    assert served.asked == 0


@pytest.mark.parametrize(
    "data",
    [b"0\r\n" + b"X: " + b"a" * 3_000_000, b"1;" + b"a" * 3_000_000, b"0\r\n" + b"X: a\r\n" * 500],
    ids=["trailer", "extension", "trailers"],
)
async def test_what_surrounds_a_chunked_body_is_bounded_too(served: Served, data: bytes) -> None:
    client = await served.connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + data)
    assert (await client.answer())[0] in (431, 0)


async def test_bytes_that_are_no_http_get_a_fault(served: Served) -> None:
    client = await served.connect()
    await client.send(b"\x16\x03\x01 hello\r\n\r\n")
    status, content = await client.answer()
    assert (status, json.loads(content)["code"]) == (400, 400)
    assert await client.is_closed()


@pytest.mark.parametrize("begun", [b"", b"\r\n", GET], ids=["nothing", "an empty line", "headers"])
async def test_headers_that_do_not_arrive_end_the_connection(served: Served, begun: bytes) -> None:
    client = await served.connect()
    await client.send(begun)
    await served.pass_time(LIMITS.header_time - 1)
    if begun:
        await client.send(b"X: 1\r\n" if begun == GET else begun)
    await served.pass_time(2)
    assert (await client.answer())[0] == (408 if begun else 0)
    assert await client.is_closed()


async def test_empty_lines_do_not_keep_connection_open(served: Served) -> None:
    client = await served.connect()
    await client.send(GET + b"\r\n")
    assert (await client.answer())[0] == 200
    for _ in range(3):
        await client.send(b"\r\n")
        await served.pass_time(LIMITS.header_time / 2)
    assert (await client.answer())[0] == 408
    assert await client.is_closed()


async def test_body_that_does_not_arrive_ends_the_request(served: Served) -> None:
    client = await served.connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(3):
        await client.send(b"x")
        await served.pass_time(LIMITS.body_time / 3 + 1)
    assert (await client.answer())[0] == 408
    assert await client.is_closed()


async def test_body_at_sufficient_rate_is_accepted(served: Served) -> None:
    client = await served.connect()
    size, piece = 600_000, 200_000
    await client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode())
    for _ in range(size // piece):
        await client.send(b"x" * piece)
        await served.pass_time(piece / LIMITS.slowest_rate)
    assert await client.answer() == (200, str(size).encode())


async def test_unwanted_body_is_not_read_for_ever(served: Served) -> None:
    client = await served.connect()
    await client.send(b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
    assert (await client.answer())[0] == 200
    sending = asyncio.ensure_future(client.send(b"x" * 20_000_000))
    assert await client.is_closed()
    await sending


async def test_answer_that_is_not_read_ends_the_connection(served: Served) -> None:
    client = await served.connect()
    client.writer.transport.pause_reading()
    await client.send(b"GET /30000000 HTTP/1.1\r\nHost: a\r\n\r\n")
    await served.pass_time(1)
    assert len(served.gate._open) == 1
    await served.pass_time(LIMITS.unread_time + 1)
    await asyncio.sleep(0.05)
    assert not served.gate._open


async def busy(served: Served, address: str, count: int) -> list[Client]:
    """Connections whose requests are under way."""
    clients = [await served.connect(address) for _ in range(count)]
    for client in clients:
        await client.send(b"GET /busy HTTP/1.1\r\nHost: a\r\n\r\n")
        await asyncio.wait_for(client.reader.readuntil(b"busy\r\n"), 10)
    return clients


async def half(
    served: Served, owner: str = "", sent: int = 1, address: str = "127.0.0.1"
) -> Client:
    """A connection whose client owes the rest of a body."""
    client = await served.connect(address)
    head = f"POST / HTTP/1.1\r\nHost: a\r\nX-Owner: {owner}\r\nExpect: 100-continue\r\n"
    await client.send(f"{head}Content-Length: {sent + 1}\r\n\r\n".encode())
    await asyncio.wait_for(client.reader.readuntil(b"100 Continue\r\n\r\n"), 10)
    await client.send(b"x" * sent)
    served.time += 0.01
    return client


async def test_one_address_has_a_share_of_the_connections(served: Served) -> None:
    most = LIMITS.connections_per_address
    clients = await busy(served, "127.0.0.1", most)
    status, content = await (await served.connect()).answer()
    assert (status, json.loads(content)["code"]) == (503, 503)
    await busy(served, "127.0.0.2", LIMITS.connections - most)
    assert (await (await served.connect("127.0.0.3")).answer())[0] == 503
    clients[0].writer.transport.abort()
    await asyncio.sleep(0.05)
    again = await served.connect()  # in the place of the one that has ended
    await again.send(GET + b"\r\n")
    assert (await again.answer())[0] == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
async def test_idle_connections_do_not_exclude_others(served: Served, address: str) -> None:
    held = []
    for number in range(20):
        held.append(await served.connect(f"127.0.0.{1 + number % 2}"))
        await held[-1].send(GET)
        served.time += 0.01
    client = await served.connect(address)
    await client.send(GET + b"\r\n")
    assert (await client.answer())[0] == 200
    assert len(served.gate._open) <= LIMITS.connections
    assert (await held[0].answer())[0] == 408


async def test_half_bodies_keep_no_client_out(served: Served) -> None:
    held = [await half(served) for _ in range(LIMITS.connections_per_address)]
    client = await served.connect()
    await client.send(GET + b"\r\n")
    assert (await client.answer())[0] == 200
    assert (await held[0].answer())[0] == 408
    await held[1].send(b"x")
    assert await held[1].answer() == (200, b"2")


async def test_owner_of_most_half_bodies_gives_way(served: Served) -> None:
    quiet = await half(served, "quiet")
    greedy = [await half(served, "greedy") for _ in range(LIMITS.connections_per_address - 1)]
    for _ in range(5):
        client = await served.connect()
        await client.send(GET + b"\r\n")
        assert (await client.answer())[0] == 200
    assert (await greedy[0].answer())[0] == 408
    await quiet.send(b"x")
    assert await quiet.answer() == (200, b"2")


async def test_unfinished_bodies_of_one_owner_share_a_limit(served: Served) -> None:
    most = LIMITS.body_bytes
    quiet = await half(served, "quiet", most // 2)
    large = await half(served, "greedy", most // 2 + 2)
    small = await half(served, "greedy", most // 2 - 1)
    assert (await large.answer())[0] == 408
    for client, size in ((small, most // 2), (quiet, most // 2 + 1)):
        await client.send(b"x")
        assert await client.answer() == (200, str(size).encode())
    assert not served.gate._bodies


async def test_known_project_is_announced_to_the_connection() -> None:
    announced: list[str] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x"}

    scope = {"type": "http", "headers": [], "extensions": {OWNER: announced.append}}
    for project in (None, "p"):
        assert await read_body(Request(scope, receive), 1, project) == b"x"
    assert announced == ["p"]
