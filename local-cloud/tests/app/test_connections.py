"""Whoever holds connections, or asks without end, keeps nobody out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from localcloud.connections import Connection

ASKED = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1"
ENDED = (ConnectionError, asyncio.IncompleteReadError)
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], "asyncio.Future[Streams]"]


class Few(Connection):
    most = 3


class Hasty(Connection):
    head_seconds = 0.2
    head_bytes = 2000


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await Request(scope, receive).body()
    await PlainTextResponse("answered")(scope, receive, send)


@asynccontextmanager
async def served(protocol: type[Connection]) -> AsyncIterator[Connect]:
    """A server whose connections are of this class; yields what connects to it."""
    config = uvicorn.Config(app, lifespan="off", log_config=None)
    config.load()
    state = uvicorn.Server(config).server_state
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(
        lambda: protocol(config, state, app_state={}), "127.0.0.1", 0
    )
    port = listener.sockets[0].getsockname()[1]
    async with asyncio.timeout(20), AsyncExitStack() as at_the_end:

        async def connect() -> Streams:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            at_the_end.callback(writer.close)
            return reader, writer

        yield connect
    listener.close()
    await listener.wait_closed()


async def ask(streams: Streams, data: bytes = ASKED) -> bytes:
    reader, writer = streams
    writer.write(data)
    return await reader.readuntil(b"answered")


async def test_connections_that_only_wait_give_way_to_requests() -> None:
    async with served(Few) as connect:
        held = [await connect() for _ in range(Few.most)]
        assert await ask(await connect())
        ends = [asyncio.create_task(reader.read()) for reader, _ in held]
        done, others = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        assert len(done) == 1
        await asyncio.gather(*done, return_exceptions=True)
        for waiting in others:
            waiting.cancel()


async def test_where_all_are_busy_no_more_are_taken() -> None:
    async with served(Few) as connect:
        busy = [await connect() for _ in range(Few.most)]
        for reader, writer in busy:
            writer.write(ASKED[:-1].replace(b"a\r\n", b"a\r\nExpect: 100-continue\r\n"))
            await reader.readuntil(b"100 Continue")  # the request is being answered
        with pytest.raises(ENDED):
            await ask(await connect())
        for streams in busy:
            assert b"HTTP/1.1 200" in await ask(streams, b"1")


@pytest.mark.parametrize(
    "head",
    [b"G", b"GET / HTTP/1.1\r\nHost: a\r\n", b"GET / HTTP/1.1\r\nLong: " + b"a" * 3000],
    ids=["begun", "half", "long"],
)
async def test_a_request_that_does_not_come_ends_its_connection(head: bytes) -> None:
    async with served(Hasty) as connect:
        streams = await connect()
        assert b"200" in await ask(streams)
        assert b"200" in await ask(streams)
        with pytest.raises(ENDED):
            await ask(streams, head)


async def test_a_long_body_may_come_along_with_its_head() -> None:
    body = b"b" * (3 * Hasty.head_bytes)
    asked = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    async with served(Hasty) as connect:
        streams = await connect()
        for _ in range(2):
            assert b"200" in await ask(streams, asked)


async def test_a_connection_on_which_nothing_is_asked_ends() -> None:
    async with served(Hasty) as connect:
        with pytest.raises(ENDED):
            await ask(await connect(), b"")
