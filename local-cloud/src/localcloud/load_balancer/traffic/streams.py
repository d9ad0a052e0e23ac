"""TCP: bytes carried to and fro between a client and a member."""

import asyncio
import contextlib
from collections.abc import Callable

from localcloud.core.store import Document
from localcloud.fabric.links.relays import Streams
from localcloud.load_balancer.traffic.members import Doors, Member
from localcloud.load_balancer.traffic.pools import Client, Pool
from localcloud.load_balancer.traffic.statistics import Statistics

CHUNK = 1 << 16
_ATTEMPTS = 3  # members that are tried for one client


async def reach(
    doors: Doors, pool: Pool, listener: Document, client: Client, key: str | None
) -> tuple[Member, Streams] | None:
    """Connect to the member that serves a client, or to another one; None where none answers."""
    avoided: frozenset[str] = frozenset()
    seconds = listener["timeout_member_connect"] / 1000
    for _ in range(_ATTEMPTS):
        member = pool.choose(client, key, avoided)
        if member is None:
            return None
        address, port = member.document["address"], member.document["protocol_port"]
        try:
            far = await doors.connect(address, port, seconds, bool(pool.document["tls_enabled"]))
        except OSError:
            avoided |= {member.id}
            continue
        if pool.document["protocol"] == "PROXY":
            far[1].write(_proxy_line(client, far[1], listener["protocol_port"]))
        return member, far
    return None


def _proxy_line(client: Client, writer: asyncio.StreamWriter, port: int) -> bytes:
    family = "TCP6" if ":" in client.address else "TCP4"
    ours = writer.get_extra_info("sockname")[0]
    return f"PROXY {family} {client.address} {ours} {client.port} {port}\r\n".encode()


def client_of(near: Streams) -> Client:
    """Return the address of the client; raises OSError if it has disconnected."""
    place = near[1].get_extra_info("peername")
    if not place:
        raise OSError("the client has hung up")
    return Client(*place[:2])


def source_key(pool: Pool, client: Client) -> str | None:
    """Return the client address that a pool uses for source-IP session persistence."""
    return client.address if pool.persistence.get("type") == "SOURCE_IP" else None


async def carry(
    doors: Doors, pool: Pool, listener: Document, near: Streams, counts: Statistics
) -> None:
    """Serve a client's connection."""
    client = client_of(near)
    reached = await reach(doors, pool, listener, client, source_key(pool, client))
    if reached is None:
        counts.request_errors += 1
        return
    member, far = reached
    member.active += 1
    try:
        await relay(near, far, idle_seconds(listener), counts)
    finally:
        member.active -= 1
        far[1].close()


def idle_seconds(listener: Document) -> float | None:
    """Return for how long nothing may be said on a connection; None for ever."""
    longest = max(listener["timeout_client_data"], listener["timeout_member_data"])
    return longest / 1000 or None


async def relay(near: Streams, far: Streams, idle: float | None, counts: Statistics) -> None:
    """Relay bytes until both sides have closed, or no byte arrives for this time."""
    loop = asyncio.get_running_loop()

    def count_in(size: int) -> None:
        counts.bytes_in += size

    def count_out(size: int) -> None:
        counts.bytes_out += size

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(idle) as limit:

            async def pump(
                reader: asyncio.StreamReader,
                writer: asyncio.StreamWriter,
                count: Callable[[int], None],
            ) -> None:
                while data := await reader.read(CHUNK):
                    count(len(data))
                    if idle is not None:
                        limit.reschedule(loop.time() + idle)
                    writer.write(data)
                    await writer.drain()
                # TLS connections cannot be closed in one direction.
                if writer.can_write_eof():
                    writer.write_eof()

            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(pump(near[0], far[1], count_in))
                    group.create_task(pump(far[0], near[1], count_out))
            except* OSError:
                pass
