"""Connections that the cloud carries: how many there may be, and when they end."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest

from localcloud.fabric.links import outbound
from localcloud.fabric.links.relays import ConnectionLimits, Listener, Owner, Streams, relay

Connect = Callable[[], Awaitable[Streams]]


@contextlib.asynccontextmanager
async def listening(
    handle: Callable[[Streams], Awaitable[None]],
    limits: ConnectionLimits | None = None,
    owner: Owner | None = None,
) -> AsyncIterator[Connect]:
    """Start a listener with limits of its own; yield a function that connects to it."""
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)
    listener = Listener(sock, handle, owner=owner, limits=limits or ConnectionLimits())
    place = sock.getsockname()
    made: list[Streams] = []

    async def connect() -> Streams:
        made.append(await asyncio.open_connection(*place))
        return made[-1]

    try:
        async with asyncio.timeout(30):
            yield connect
    finally:
        for _, writer in made:
            writer.close()
        listener.close()
        await listener.ended()


@contextlib.asynccontextmanager
async def world() -> AsyncIterator[tuple[tuple[str, int], "asyncio.Queue[Streams]"]]:
    """A place to connect to; the queue has its ends of the connections."""
    arrived: asyncio.Queue[Streams] = asyncio.Queue()
    accepted: list[asyncio.StreamWriter] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(writer)
        await arrived.put((reader, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname(), arrived
    finally:
        for writer in accepted:
            writer.close()
        server.close()


async def end_of(streams: Streams) -> bytes:
    """Wait for the end of a connection, and return the bytes before it."""
    with contextlib.suppress(ConnectionError):
        return await streams[0].read()
    return b""


async def echo(near: Streams) -> None:
    while data := await near[0].read(100):
        near[1].write(data)


async def asked(streams: Streams) -> bytes:
    streams[1].write(b"?")
    return await streams[0].readexactly(1)


async def test_idlest_connection_of_the_owner_gives_way() -> None:
    limits = ConnectionLimits(of_owner=3)
    async with listening(echo, limits, lambda _: "server") as connect:
        held = [await connect() for _ in range(3)]
        for streams in held:
            assert await asked(streams) == b"?"
        await asyncio.sleep(0.05)
        for streams in (held[0], held[2]):
            assert await asked(streams) == b"?"
        await asyncio.sleep(0.05)
        new = await connect()
        assert await end_of(held[1]) == b""
        for streams in (held[0], held[2], new):
            assert await asked(streams) == b"?"


async def test_owner_with_most_connections_loses_one_when_full() -> None:
    limits = ConnectionLimits(of_owner=100, together=4)
    owners = iter(["greedy", "greedy", "greedy", "quiet", "other"])
    async with listening(echo, limits, lambda _: next(owners)) as connect:
        held = []
        for _ in range(4):
            held.append(await connect())
            assert await asked(held[-1]) == b"?"
            await asyncio.sleep(0.02)
        new = await connect()
        assert await end_of(held[0]) == b""
        for streams in (*held[1:], new):
            assert await asked(streams) == b"?"


async def test_ended_connections_free_their_place() -> None:
    limits = ConnectionLimits(of_owner=2)
    async with listening(echo, limits) as connect:
        for _ in range(10):
            streams = await connect()
            assert await asked(streams) == b"?"
            streams[1].close()
            await streams[1].wait_closed()
        held = await connect()
        assert await asked(held) == b"?"


@pytest.mark.parametrize("first", ["near", "far"])
async def test_half_open_connection_that_idles_ends(first: str) -> None:
    async with world() as (target, arrived):

        async def carry(near: Streams) -> None:
            dial = partial(asyncio.open_connection, *target)
            await relay(near, dial, half_open_seconds=0.3)

        async with listening(carry) as connect:
            near = await connect()
            far = await arrived.get()
            ended, other = (near, far) if first == "near" else (far, near)
            ended[1].write_eof()
            assert await end_of(other) == b""
            other[1].write(b"late")
            assert await end_of(ended) == b"late"


async def test_half_open_connection_that_carries_data_stays() -> None:
    async with world() as (target, arrived):

        async def carry(near: Streams) -> None:
            dial = partial(asyncio.open_connection, *target)
            await relay(near, dial, half_open_seconds=3)

        async with listening(carry) as connect:
            near = await connect()
            far = await arrived.get()
            near[1].write_eof()
            for _ in range(36):
                await asyncio.sleep(0.1)
                far[1].write(b"x")
                assert await near[0].readexactly(1) == b"x"
            far[1].close()
            assert await end_of(near) == b""


async def test_vanished_peers_are_noticed() -> None:
    async with world() as (target, arrived):

        async def carry(near: Streams) -> None:
            async def dial() -> Streams:
                far = await asyncio.open_connection(*target)
                sockets.append(far[1].get_extra_info("socket"))
                return far

            sockets.append(near[1].get_extra_info("socket"))
            await relay(near, dial)

        sockets: list[socket.socket] = []
        async with listening(carry) as connect:
            near = await connect()
            await arrived.get()
            near[1].write(b"x")
            await near[1].drain()
            kept = [s.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) for s in sockets]
        assert kept == [1, 1]


def own_address() -> str | None:
    """An address of this machine that is not a loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found = str(probe.getsockname()[0])
    return None if ipaddress.ip_address(found).is_loopback else found


async def test_guest_reaches_no_address_of_the_host() -> None:
    address = own_address()
    if address is None:
        pytest.skip("this machine has no address but its loopback addresses")
    server = socket.create_server((address, 0))
    with server, pytest.raises(OSError, match="address of the host"):
        await outbound._connect(*server.getsockname())
