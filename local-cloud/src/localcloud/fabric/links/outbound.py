"""The way out: servers' connections to the world, made by the host in their place.

Without privilege no packet can be routed out of the fabric. So a router with an external gateway
hands TCP connections to the world, and questions to name servers, to sockets of its own; they are
answered from the host's network.
"""

import asyncio
import contextlib
import ipaddress
import socket

from localcloud.fabric.links import relays
from localcloud.fabric.resolvers import Resolvers

_DNS_SECONDS = 5.0
_MOST_QUESTIONS = 200
_LARGEST_DATAGRAM = 65535
# Where an answer says that its sender does not know about such names.
_CODE_BYTE, _CODE_BITS, _REFUSED = 3, 0x0F, 5


class DnsRelay:
    """Forwards the queries on a UDP socket to the name servers."""

    def __init__(self, sock: socket.socket, resolvers: Resolvers) -> None:
        self._socket = sock
        self._resolvers = resolvers
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
        if len(self._questions) < _MOST_QUESTIONS:
            task = asyncio.get_running_loop().create_task(self._answer(data, client))
            self._questions.add(task)
            task.add_done_callback(self._questions.discard)

    async def _answer(self, data: bytes, client: tuple[str, int]) -> None:
        answer = b""
        for resolver in self._resolvers.in_turn():
            with contextlib.suppress(OSError):
                answer = await _asked(resolver, data)
                if not _is_refusal(answer):
                    break
        if answer:
            with contextlib.suppress(OSError):
                self._socket.sendto(answer, client)


async def _asked(resolver: tuple[str, int], data: bytes) -> bytes:
    """Return the answer of a name server. Raises OSError, also after a timeout."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as upstream:
        upstream.setblocking(False)
        upstream.connect(resolver)
        upstream.send(data)
        async with asyncio.timeout(_DNS_SECONDS):
            return await asyncio.get_running_loop().sock_recv(upstream, _LARGEST_DATAGRAM)


def _is_refusal(answer: bytes) -> bool:
    return len(answer) > _CODE_BYTE and answer[_CODE_BYTE] & _CODE_BITS == _REFUSED


async def relay_names(near: relays.Streams, resolver: tuple[str, int] | None) -> None:
    """Carry a connection for questions to a name server of the host."""
    if resolver is not None:
        await relays.relay(near, lambda: asyncio.open_connection(*resolver))


def _is_of_host(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether an address is the host's own: it is then the source of packets sent there."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))  # sends nothing
        except OSError:
            return False
        return ipaddress.ip_address(probe.getsockname()[0]) == address


async def _connect(address: str, port: int) -> relays.Streams:
    target = ipaddress.ip_address(address)
    if target.is_loopback or target.is_link_local or target.is_multicast or target.is_unspecified:
        raise OSError(f"{address} is not an address of the world")
    if _is_of_host(target):
        raise OSError(f"{address} is an address of the host")
    return await asyncio.open_connection(address, port)


async def _relay_out(near: relays.Streams) -> None:
    connection: socket.socket = near[1].get_extra_info("socket")
    address, port = relays.original_destination(connection)
    await relays.relay(near, lambda: _connect(address, port))


class Outbound:
    """The sockets of routers that lead out."""

    def __init__(self, resolvers: Resolvers) -> None:
        self._resolvers = resolvers
        self._open: dict[str, tuple[relays.Listener, DnsRelay]] = {}

    def serve(self, router_id: str, connections: socket.socket, questions: socket.socket) -> None:
        """Serve the sockets of a new router: one for connections, one for names."""
        self.release(router_id)
        relay = DnsRelay(questions, self._resolvers)

        def owner(connection: socket.socket) -> tuple[str, str]:
            """Return the router, and the server behind it by its address."""
            try:
                return router_id, str(connection.getpeername()[0])
            except OSError:  # it has ended already
                return router_id, ""

        self._open[router_id] = (relays.Listener(connections, _relay_out, owner=owner), relay)

    def release(self, router_id: str) -> None:
        """Close the sockets of a router; unknown ids are fine."""
        for served in self._open.pop(router_id, ()):
            served.close()

    def close(self) -> None:
        """Close all sockets."""
        for router_id in list(self._open):
            self.release(router_id)
