"""The fabric on user namespaces: the cloud's side of the fabric process.

The fabric process makes what needs namespaces and hands out sockets that belong to them. This
side, on the cloud's event loop, serves those sockets: metadata, the host's services and the
floating addresses.
"""

import asyncio
import base64
import contextlib
import ipaddress
import itertools
import os
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcloud.fabric import channel, relays, specs
from localcloud.fabric.forwards import Forwards, own_addresses
from localcloud.fabric.interface import (
    Capabilities,
    Exit,
    FabricError,
    FloatingIP,
    Forwarding,
    Network,
    Port,
    Router,
    Server,
)
from localcloud.fabric.probe import Findings, spawn_owner
from localcloud.guest.init import EXIT_REBOOT

_ANSWER_SECONDS = 60.0
_POWER_OFF_SECONDS = 5.0


@dataclass
class _Booted:
    server: Server
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    listeners: list[relays.Listener] = field(default_factory=list)


def _reached_as(host: str) -> str:
    """The address under which a service that listens at ``host`` is reached on the host."""
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return str(address)


def _absolute(path: Path) -> str:
    return str(path.resolve())


class NamespaceFabric:
    """Networks and servers made of namespaces. See :class:`localcloud.fabric.interface.Fabric`.

    ``state`` is a directory for the built-in image; it must lie on the file system of the disks.
    ``services`` are the host's (address, port) pairs that servers reach under the same address.
    ``floating`` are the CIDRs of floating addresses: servers reach those of others too.
    """

    def __init__(
        self,
        state: Path,
        services: Sequence[tuple[str, int]] = (),
        floating: Sequence[str] = ("127.24.4.0/24",),
    ) -> None:
        self._state = state
        self._services = tuple(dict.fromkeys((_reached_as(host), port) for host, port in services))
        self._floating = tuple(floating)
        self._capabilities = Capabilities(False, False, False, False)
        self._numbers = itertools.count(1)
        self._awaited: dict[int, asyncio.Future[list[int]]] = {}
        self._booted: dict[str, _Booted] = {}
        self._forwards = Forwards(self._dial, own_addresses)
        self._sending = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._on_exit: Callable[[Exit], None] = lambda _: None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def capabilities(self) -> Capabilities:
        """What the machine allows; known after :meth:`start`."""
        return self._capabilities

    async def start(self, on_exit: Callable[[Exit], None]) -> None:
        """Start the fabric process. Raises FabricError when the machine has no namespaces."""
        self._on_exit = on_exit
        settings = {
            "state": _absolute(self._state),
            "probe_only": False,
            "services": self._services,
            "floating": self._floating,
        }
        self._state.mkdir(parents=True, exist_ok=True)
        self._process, self._channel = spawn_owner(settings)
        self._channel.setblocking(False)
        hello: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._awaited[0] = hello
        receiver = channel.Receiver(self._channel)
        loop = asyncio.get_running_loop()
        loop.add_reader(self._channel.fileno(), self._take_messages, receiver)
        async with asyncio.timeout(_ANSWER_SECONDS):
            await hello
        if not self._capabilities.isolated:
            await self.close()
            raise FabricError("namespaces: " + " ".join(self._capabilities.lacks))

    async def close(self) -> None:
        """End every server and remove all that was made."""
        await self._forwards.close()
        for task in list(self._tasks):
            task.cancel()
        if self._channel is not None:
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            self._channel.close()
            self._channel = None
        if self._process is not None:
            process, self._process = self._process, None
            await asyncio.to_thread(process.wait)
        for server_id in list(self._booted):
            self._forget(server_id)

    def _take_messages(self, receiver: channel.Receiver) -> None:
        try:
            messages = receiver.receive()
        except BlockingIOError:
            return
        except ConnectionError:
            messages = None
        if messages is None:
            self._lost()
            return
        for message, descriptors in messages:
            if "hello" in message:
                self._capabilities = Findings.from_json(message["hello"]).capabilities
                self._awaited.pop(0).set_result([])
            elif "ended" in message:
                self._ended(message)
            else:
                self._answered(message, descriptors)

    def _answered(self, message: dict[str, Any], descriptors: list[int]) -> None:
        awaited = self._awaited.pop(message["to"], None)
        if awaited is None or awaited.done():
            for descriptor in descriptors:
                os.close(descriptor)
        elif "error" in message:
            awaited.set_exception(FabricError(message["error"]))
        else:
            awaited.set_result(descriptors)

    def _ended(self, message: dict[str, Any]) -> None:
        server_id = message["ended"]
        if self._forget(server_id):
            code = message["code"]
            self._on_exit(Exit(server_id, code, bool(message["asked"]), reboot=code == EXIT_REBOOT))

    def _lost(self) -> None:
        """The fabric process has ended, and all servers with it."""
        if self._channel is not None:
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
        for awaited in self._awaited.values():
            if not awaited.done():
                awaited.set_exception(
                    FabricError("the fabric process has ended; restart the cloud")
                )
        self._awaited.clear()
        for server_id in list(self._booted):
            self._forget(server_id)
            self._on_exit(Exit(server_id, None, asked=False))

    def _forget(self, server_id: str) -> bool:
        booted = self._booted.pop(server_id, None)
        if booted is None:
            return False
        for listener in booted.listeners:
            listener.close()
        self._forwards.server_ended(server_id)
        booted.ended.set()
        return True

    async def _ask(self, do: str, **content: Any) -> list[int]:
        if self._channel is None:
            raise FabricError("the fabric is not started")
        number = next(self._numbers)
        loop = asyncio.get_running_loop()
        awaited: asyncio.Future[list[int]] = loop.create_future()
        self._awaited[number] = awaited
        frame = channel.frame({"id": number, "do": do, **content})
        async with self._sending:
            await loop.sock_sendall(self._channel, frame)
        async with asyncio.timeout(_ANSWER_SECONDS):
            return await awaited

    async def ensure_network(self, network: Network) -> None:
        """Make the segment."""
        await self._ask("ensure_network", network={"id": network.id, "mtu": network.mtu})

    async def remove_network(self, network_id: str) -> None:
        """Remove the segment."""
        await self._ask("remove_network", network_id=network_id)

    async def ensure_router(self, router: Router) -> None:
        """Bring the router to exactly these legs, gateway and routes."""
        await self._ask("ensure_router", router=specs.to_json(router))

    async def remove_router(self, router_id: str) -> None:
        """Remove the router."""
        await self._ask("remove_router", router_id=router_id)

    async def ensure_port(self, port: Port) -> None:
        """Bring a port of a running server up to date."""
        server_id = self._forwards.holder(port.id)
        if server_id is not None:
            self._forwards.port_changed(port)
            await self._ask("ensure_port", server_id=server_id, port=specs.to_json(port))

    async def plug(self, server_id: str, port: Port) -> None:
        """Attach a port to a running server."""
        await self._ask("plug", server_id=server_id, port=specs.to_json(port))
        self._forwards.port_added(server_id, port)

    async def unplug(self, server_id: str, port_id: str) -> None:
        """Take a port off a server."""
        await self._ask("unplug", server_id=server_id, port_id=port_id)
        self._forwards.port_removed(port_id)

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        """Bind the address."""
        self._forwards.bind(floating_ip)

    async def remove_floating_ip(self, floating_ip_id: str) -> None:
        """Unbind the address."""
        self._forwards.unbind(floating_ip_id)

    def forwardings(self) -> Sequence[Forwarding]:
        """The host's listening addresses that lead into servers now."""
        return self._forwards.current()

    def running(self) -> frozenset[str]:
        """The ids of the servers whose first process lives."""
        return frozenset(self._booted)

    async def boot(self, server: Server) -> None:
        """Start the server from its disk and return when its first process runs."""
        if server.id in self._booted:
            return
        user_data = server.user_data
        data = {
            "id": server.id,
            "hostname": server.hostname,
            "disk": _absolute(server.disk),
            "console": _absolute(server.console),
            "image": None if server.root is None else _absolute(server.root),
            "ports": [specs.to_json(port) for port in server.ports],
            "metadata": server.metadata,
            "user_data": None if user_data is None else base64.b64encode(user_data).decode(),
            "vendor_data": server.vendor_data,
            "environment": server.environment,
            "vcpus": server.vcpus,
        }
        server.disk.mkdir(parents=True, exist_ok=True)
        booted = self._booted[server.id] = _Booted(server)
        try:
            descriptors = await self._ask("boot", server=data)
        except BaseException:
            self._booted.pop(server.id, None)
            raise
        tables, listening = descriptors[-2:], descriptors[:-2]
        sockets = [socket.socket(fileno=descriptor) for descriptor in listening]
        handlers = [
            lambda near: relays.serve_metadata(server, near),
            self._relay_to_floating,
            *(self._service_handler(host, port) for host, port in self._services),
        ]
        for sock, handler in zip(sockets, handlers, strict=True):
            booted.listeners.append(relays.Listener(sock, handler))
        self._forwards.server_started(server, tables)

    def _service_handler(self, host: str, port: int) -> Callable[[relays.Streams], Any]:
        return lambda near: relays.relay(near, lambda: asyncio.open_connection(host, port))

    async def _relay_to_floating(self, near: relays.Streams) -> None:
        connection: socket.socket = near[1].get_extra_info("socket")
        address, port = relays.original_destination(connection)
        floating_ip = self._forwards.bound(address)
        if floating_ip is None:
            return
        await relays.relay(near, lambda: self._dial(floating_ip, port))

    async def _dial(self, floating_ip: FloatingIP, port: int) -> relays.Streams:
        if floating_ip.router_id is None:
            raise OSError("the floating address has no router")
        try:
            (descriptor,) = await self._ask(
                "connect",
                router_id=floating_ip.router_id,
                address=floating_ip.fixed_ip,
                port=port,
            )
        except FabricError as error:
            raise OSError(str(error)) from error
        return await relays.await_connection(socket.socket(fileno=descriptor))

    async def stop_server(self, server_id: str) -> None:
        """Power off: all processes end, the disk stays."""
        await self._end(server_id, at_once=False)

    async def _end(self, server_id: str, at_once: bool) -> None:
        booted = self._booted.get(server_id)
        if booted is None:
            return
        await self._ask("end", server_id=server_id, at_once=at_once)
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(_POWER_OFF_SECONDS):
                await booted.ended.wait()
        if not booted.ended.is_set():
            await self._ask("end", server_id=server_id, at_once=True)
            await booted.ended.wait()

    async def delete_server(self, server_id: str, disk: Path) -> None:
        """Power off and remove the disk."""
        await self._end(server_id, at_once=True)
        await self._ask("remove_disk", disk=_absolute(disk))

    async def pause(self, server_id: str, paused: bool) -> None:
        """Freeze or thaw all processes of the server."""
        await self._ask("pause", server_id=server_id, paused=paused)
