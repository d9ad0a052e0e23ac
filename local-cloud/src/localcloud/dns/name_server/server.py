"""The name server: on loopback, by UDP and TCP, for the machine and for servers in networks.

It answers only for the zones of the cloud and refuses all other queries. A resolver then asks its
next server, as the relays of servers do.
"""

import asyncio
import contextlib
import logging
from ipaddress import ip_network
from typing import cast

from localcloud.dns.model.state import State
from localcloud.dns.name_server.answers import answer

_LOG = logging.getLogger(__name__)
_PORTS = (53, 8053)  # the second where the first needs a right that the cloud does not have
_SECONDS = 5.0
_MOST_BYTES = 65535
_MOST_CONNECTIONS = 100


class NameServer:
    """Serves while the cloud runs, from the first zone on."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._starting = asyncio.Lock()
        self._questions = _Questions(state)
        self._transport: asyncio.DatagramTransport | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.address: tuple[str, int] | None = None  # None before it has started

    async def start(self) -> None:
        """Start to answer. It has no effect if the server runs."""
        async with self._starting:
            if self.address is not None:
                return
            host = str(ip_network(self._state.cloud.settings.floating_cidr)[1])
            for port in _PORTS:
                try:
                    await self._listen(host, port)
                except OSError as error:
                    reason = error
                    continue
                self.address = (host, port)
                self._state.cloud.fabric.resolvers.own = self.address
                return
            _LOG.warning("no name server at %s: %s", host, reason)

    async def stop(self) -> None:
        """Answer no more."""
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._transport is not None:
            self._transport.close()
            await self._questions.closed.wait()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _listen(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._accept, host, port)
        try:
            self._transport, _ = await loop.create_datagram_endpoint(
                lambda: self._questions, (host, port)
            )
        except OSError:
            server.close()
            raise
        self._server = server

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= _MOST_CONNECTIONS:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_SECONDS):
                size = int.from_bytes(await reader.readexactly(2))
                reply = answer(self._state, await reader.readexactly(size), _MOST_BYTES)
                if reply is not None:
                    writer.write(len(reply).to_bytes(2) + reply)
                    await writer.drain()
        self._connections.discard(task)
        writer.close()


class _Questions(asyncio.DatagramProtocol):
    def __init__(self, state: State) -> None:
        self._state = state
        self._transport: asyncio.DatagramTransport | None = None
        self.closed = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        reply = answer(self._state, data)
        if reply is not None and self._transport is not None:
            self._transport.sendto(reply, addr)
