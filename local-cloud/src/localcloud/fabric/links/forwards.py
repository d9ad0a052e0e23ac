"""Floating addresses on the host: one listener for each port that a server listens on.

While a server has a floating address, its listening TCP ports are read from its socket table, ten
times a second. Idle polling is limited to a twentieth of one processor. The table is also read when
the server calls a service of the host, because that call may report that the server is ready. A
port closed by security groups has no listener, so connections from the host are refused
immediately. Connections to open ports pass through the server's packet filter like any other
traffic.
"""

import asyncio
import errno
import os
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from localcloud.fabric.interface import FloatingIP, Forwarding, Port
from localcloud.fabric.links import relays
from localcloud.fabric.links.filters import permits
from localcloud.fabric.links.listening import as_in_table, listening_ports
from localcloud.fabric.links.switch import HOST_SOURCE

PRIVILEGED_OFFSET = 8000  # a port that this user may not bind appears this much higher

_POLL_SECONDS = 0.1
# Length of the pause after a round, as a multiple of the time that the round took.
_PAUSE_LIVELY, _PAUSE_QUIET = 9, 19
_LIVELY_SECONDS = 10.0
_MOST_PORTS = 256
Dial = Callable[[FloatingIP, int], Awaitable[relays.Streams]]


_ANYWHERE = {as_in_table("0.0.0.0"), as_in_table("::")}  # noqa: S104 - read, not bound


def own_addresses(floating_ip: FloatingIP) -> frozenset[str]:
    """The addresses on which a server with a namespace of its own listens for this one."""
    return frozenset(_ANYWHERE | {as_in_table(floating_ip.fixed_ip)})


@dataclass
class _Plugged:
    server_id: str
    port: Port
    tables: list[int]


@dataclass
class _Bound:
    floating_ip: FloatingIP
    listeners: dict[int, tuple[relays.Listener, Forwarding]] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    looked_at: float = 0.0
    # Earliest time of the next poll at the server's request, which may come as often as it likes.
    rests_until: float = 0.0


def _open_listener(address: str, port: int) -> socket.socket | None:
    """Return a socket that listens on the port, or on the next free one from ``port + 8000``.

    None if the host does not have the address, or no port is free.
    """
    candidates = [port]
    candidates += range(port + PRIVILEGED_OFFSET, min(port + PRIVILEGED_OFFSET + 100, 65536))
    for candidate in candidates:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((address, candidate))
            sock.listen(64)
        except OSError as error:
            sock.close()
            if error.errno == errno.EADDRNOTAVAIL:
                return None
        else:
            sock.setblocking(False)
            return sock
    return None


class Forwards:
    """The floating addresses, which server each leads to, and their listeners on the host.

    ``dial`` connects to a server's port; ``listened`` returns the listening addresses of a server
    that a floating address reaches.
    """

    def __init__(self, dial: Dial, listened: Callable[[FloatingIP], frozenset[str]]) -> None:
        self._dial = dial
        self._listened = listened
        self._bound: dict[str, _Bound] = {}
        self._plugged: dict[str, _Plugged] = {}
        self._tables: dict[str, list[int]] = {}
        self._poller: asyncio.Task[None] | None = None
        self._changed_at = 0.0

    async def close(self) -> None:
        """Close all listeners."""
        if self._poller is not None:
            self._poller.cancel()
            self._poller = None
        for floating_ip_id in list(self._bound):
            self.unbind(floating_ip_id)

    def server_started(self, server_id: str, ports: Sequence[Port], tables: list[int]) -> None:
        """Note a server and the descriptors of its tables of sockets, which are ours from now.

        Listeners in networks that are no servers are noted in the same way.
        """
        self._tables[server_id] = tables
        self.ports_changed(server_id, ports)

    def ports_changed(self, server_id: str, ports: Sequence[Port]) -> None:
        """Note all ports of a server, and drop those that it does not have any more."""
        present = {key for key, at in self._plugged.items() if at.server_id == server_id}
        for port_id in present - {port.id for port in ports}:
            self.port_removed(port_id)
        for port in ports:
            self.port_added(server_id, port)

    def with_address(self, address: str) -> Port | None:
        """The port of something that runs which has this fixed address."""
        for plugged in self._plugged.values():
            if any(fixed.ip == address for fixed in plugged.port.addresses):
                return plugged.port
        return None

    def server_ended(self, server_id: str) -> None:
        """Close all listeners of the server."""
        for port_id in [key for key, at in self._plugged.items() if at.server_id == server_id]:
            self.port_removed(port_id)
        for descriptor in self._tables.pop(server_id, []):
            os.close(descriptor)

    def port_added(self, server_id: str, port: Port) -> None:
        """Note a port of a running server."""
        if server_id in self._tables:
            self._plugged[port.id] = _Plugged(server_id, port, self._tables[server_id])
            self._refresh(port.id)

    def port_changed(self, port: Port) -> None:
        """Note new addresses and rules."""
        if port.id in self._plugged:
            self._plugged[port.id].port = port
            self._refresh(port.id)

    def port_removed(self, port_id: str) -> None:
        """Close all listeners of the port."""
        self._plugged.pop(port_id, None)
        self._refresh(port_id)

    def holder(self, port_id: str) -> str | None:
        """The id of the running server with this port."""
        plugged = self._plugged.get(port_id)
        return None if plugged is None else plugged.server_id

    async def look_at(self, server_id: str) -> None:
        """Wait until the present listening ports of the server can be reached."""
        asked_at = time.monotonic()
        for bound in list(self._bound.values()):
            if self.holder(bound.floating_ip.port_id) == server_id:
                await asyncio.sleep(bound.rests_until - asked_at)
                known = self._bound.get(bound.floating_ip.id) is bound
                if known and bound.looked_at < asked_at:
                    self._bring_up_to_date(bound)

    def bind(self, floating_ip: FloatingIP) -> None:
        """Lead a floating address to its fixed address."""
        known = self._bound.get(floating_ip.id)
        if known is not None and known.floating_ip == floating_ip:
            return
        self.unbind(floating_ip.id)
        self._bound[floating_ip.id] = _Bound(floating_ip)
        self._refresh(floating_ip.port_id)
        if self._poller is None:
            self._poller = asyncio.get_running_loop().create_task(self._poll())

    def unbind(self, floating_ip_id: str) -> None:
        """Close the listeners of a floating address; unknown ids are fine."""
        bound = self._bound.pop(floating_ip_id, None)
        if bound is not None:
            for listener, _ in bound.listeners.values():
                listener.close()

    def bound(self, address: str) -> FloatingIP | None:
        """The floating address object with this address."""
        for bound in self._bound.values():
            if bound.floating_ip.address == address:
                return bound.floating_ip
        return None

    def current(self) -> Sequence[Forwarding]:
        """All listeners there are now."""
        return [
            forwarding
            for bound in self._bound.values()
            for _, forwarding in bound.listeners.values()
        ]

    async def _poll(self) -> None:
        while self._bound:
            spent = 0.0
            for bound in list(self._bound.values()):
                began = time.monotonic()
                if self._bound.get(bound.floating_ip.id) is bound:
                    self._bring_up_to_date(bound)
                spent += time.monotonic() - began
                await asyncio.sleep(0)
            lively = time.monotonic() - self._changed_at < _LIVELY_SECONDS
            pause = spent * (_PAUSE_LIVELY if lively else _PAUSE_QUIET)
            await asyncio.sleep(max(_POLL_SECONDS, pause))
        self._poller = None

    def _refresh(self, port_id: str) -> None:
        self._changed_at = time.monotonic()
        for bound in self._bound.values():
            if bound.floating_ip.port_id == port_id:
                self._bring_up_to_date(bound)

    def _bring_up_to_date(self, bound: _Bound) -> None:
        bound.looked_at = time.monotonic()
        desired = self._open_ports(bound.floating_ip)
        for port in set(bound.listeners) - desired:
            bound.listeners.pop(port)[0].close()
        bound.refused &= desired
        for port in desired - set(bound.listeners) - bound.refused:
            self._open(bound, port)
        now = time.monotonic()
        bound.rests_until = now + _PAUSE_LIVELY * (now - bound.looked_at)

    def _open_ports(self, floating_ip: FloatingIP) -> set[int]:
        plugged = self._plugged.get(floating_ip.port_id)
        if plugged is None or floating_ip.router_id is None or not plugged.port.enabled:
            return set()
        found = listening_ports(plugged.tables, self._listened(floating_ip))
        allowed = {port for port in found if permits(plugged.port.rules, HOST_SOURCE, port)}
        return set(sorted(allowed)[:_MOST_PORTS])

    def _open(self, bound: _Bound, port: int) -> None:
        floating_ip = bound.floating_ip
        sock = _open_listener(floating_ip.address, port)
        if sock is None:
            bound.refused.add(port)
            return
        host_ip, host_port = sock.getsockname()
        forwarding = Forwarding(floating_ip.id, "tcp", host_ip, host_port, port)

        def handle(near: relays.Streams) -> Awaitable[None]:
            return relays.relay(near, lambda: self._dial(floating_ip, port))

        bound.listeners[port] = (relays.Listener(sock, handle), forwarding)
