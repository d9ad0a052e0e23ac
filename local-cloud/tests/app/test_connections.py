"""A client that holds connections, or sends requests without end, excludes no other."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from localcloud.core.connections import Connection
from localcloud.web.http import OWNER

ASKED = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1"
ENDED = (ConnectionError, asyncio.IncompleteReadError)
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], "asyncio.Future[Streams]"]


class Few(Connection):
    most = 3


class Hasty(Connection):
    head_seconds = 0.2
    head_bytes = 2000
    body_seconds = 0.2


HALF = b"POST / HTTP/1.1\r\nHost: a\r\nX-Owner: %b\r\nContent-Length: 2\r\n"
HALF += b"Expect: 100-continue\r\n\r\n1"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope, receive)
    scope["extensions"][OWNER](request.headers.get("x-owner", ""))
    with contextlib.suppress(ClientDisconnect):
        await request.body()
        if scope["path"] == "/busy":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"busy", "more_body": True})
            await receive()  # the end of the connection
            return
        await PlainTextResponse("answered")(scope, receive, send)


async def begin(streams: Streams, owner: bytes) -> None:
    """Send half a body, and return when the request is being handled."""
    reader, writer = streams
    writer.write(HALF % owner)
    await reader.readuntil(b"100 Continue\r\n\r\n")


async def ended(streams: Streams) -> bool:
    """Return whether a connection has been closed."""
    try:
        return await asyncio.wait_for(streams[0].read(1), 0.5) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@asynccontextmanager
async def served(protocol: type[Connection]) -> AsyncIterator[Connect]:
    """Run a server with connections of this class; yield a function that connects to it."""
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
            writer.write(ASKED.replace(b"/ ", b"/busy "))
            await reader.readuntil(b"busy\r\n")
        with pytest.raises(ENDED):
            await ask(await connect())
        assert [await ended(streams) for streams in busy] == [False] * Few.most


async def test_half_body_gives_way_to_a_request() -> None:
    async with served(Few) as connect:
        held = [await connect() for _ in range(Few.most)]
        for streams in held:
            await begin(streams, b"")
        assert b"200" in await ask(await connect())
        assert [await ended(streams) for streams in held] == [True, False, False]
        assert b"200" in await ask(held[2], b"2")


async def test_owner_of_most_half_bodies_gives_way() -> None:
    async with served(Few) as connect:
        quiet, *greedy = [await connect() for _ in range(Few.most)]
        await begin(quiet, b"quiet")
        for streams in greedy:
            await begin(streams, b"greedy")
        for _ in range(5):
            assert b"200" in await ask(await connect())
        assert await ended(greedy[0])
        assert b"200" in await ask(quiet, b"2")


async def test_body_that_stops_arriving_ends_its_connection() -> None:
    async with served(Hasty) as connect:
        streams = await connect()
        await begin(streams, b"")
        assert await ended(streams)


@pytest.mark.parametrize(
    "head",
    [b"G", b"GET / HTTP/1.1\r\nHost: a\r\n", b"GET / HTTP/1.1\r\nLong: " + b"a" * 3000],
    ids=["begun", "half", "long"],
)
async def test_missing_request_ends_its_connection(head: bytes) -> None:
    async with served(Hasty) as connect:
        streams = await connect()
        assert b"200" in await ask(streams)
        assert b"200" in await ask(streams)
        with pytest.raises(ENDED):
            await ask(streams, head)


async def test_long_body_may_follow_its_head_immediately() -> None:
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
