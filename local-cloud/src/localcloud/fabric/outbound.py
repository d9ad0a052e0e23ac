"""The way out: servers' connections to the world, made by the host in their place.

Without privilege no packet can be routed out of the fabric. So a router with an external gateway
hands TCP connections to the world, and questions to name servers, to sockets of its own; they are
answered from the host's network.
"""

import asyncio
import contextlib
import ipaddress
import socket
from pathlib import Path

from localcloud.fabric import relays

_DNS_SECONDS = 5.0
_MOST_QUESTIONS = 200
_LARGEST_DATAGRAM = 65535


def host_resolver() -> tuple[str, int] | None:
    """Address and port of the host's first IPv4 name server."""
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except OSError:
        return None
    found = (
        line.split()[1] for line in lines if line.startswith("nameserver ") and line.split()[1:]
    )
    return next(((address, 53) for address in found if ":" not in address), None)


class DnsRelay:
    """Passes the questions that come to a UDP socket to a name server of the host."""

    def __init__(self, sock: socket.socket, resolver: tuple[str, int] | None) -> None:
        self._socket = sock
        self._resolver = resolver
        self._questions: set[asyncio.Task[None]] = set()
        asyncio.get_running_loop().add_reader(sock.fileno(), self._take)

    def close(self) -> None:
        """Stop answering."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        for question in self._questions:
            question.cancel()
        self._socket.close()

    def _take(self) -> None:
        try:
            data, client = self._socket.recvfrom(_LARGEST_DATAGRAM)
        except OSError:
            return
        if self._resolver is not None and len(self._questions) < _MOST_QUESTIONS:
            task = asyncio.get_running_loop().create_task(self._ask(self._resolver, data, client))
            self._questions.add(task)
            task.add_done_callback(self._questions.discard)

    async def _ask(self, resolver: tuple[str, int], data: bytes, client: tuple[str, int]) -> None:
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as upstream,
        ):
            upstream.setblocking(False)
            upstream.connect(resolver)
            upstream.send(data)
            async with asyncio.timeout(_DNS_SECONDS):
                answer = await asyncio.get_running_loop().sock_recv(upstream, _LARGEST_DATAGRAM)
            self._socket.sendto(answer, client)


async def relay_names(near: relays.Streams, resolver: tuple[str, int] | None) -> None:
    """Carry a connection for questions to a name server of the host."""
    if resolver is not None:
        await relays.relay(near, lambda: asyncio.open_connection(*resolver))


async def _connect(address: str, port: int) -> relays.Streams:
    target = ipaddress.ip_address(address)
    if target.is_loopback or target.is_link_local or target.is_multicast or target.is_unspecified:
        raise OSError(f"{address} is not an address of the world")
    return await asyncio.open_connection(address, port)


async def _relay_out(near: relays.Streams) -> None:
    connection: socket.socket = near[1].get_extra_info("socket")
    address, port = relays.original_destination(connection)
    await relays.relay(near, lambda: _connect(address, port))


class Outbound:
    """The sockets of routers that lead out."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[relays.Listener, DnsRelay]] = {}

    def serve(self, router_id: str, connections: socket.socket, questions: socket.socket) -> None:
        """Serve the sockets of a new router: one for connections, one for names."""
        self.release(router_id)
        relay = DnsRelay(questions, host_resolver())
        self._open[router_id] = (relays.Listener(connections, _relay_out), relay)

    def release(self, router_id: str) -> None:
        """Close the sockets of a router; unknown ids are fine."""
        for served in self._open.pop(router_id, ()):
            served.close()

    def close(self) -> None:
        """Close all sockets."""
        for router_id in list(self._open):
            self.release(router_id)
