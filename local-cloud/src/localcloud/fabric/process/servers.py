"""The servers that run in namespaces, as the cloud's event loop sees them.

For each server this side serves the sockets that were opened in the server's network namespace:
metadata, the host's services, and connections to floating addresses.
"""

import asyncio
import base64
import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from localcloud.fabric.exports import Exports
from localcloud.fabric.interface import (
    METADATA,
    NAMES,
    Exit,
    FabricError,
    Face,
    FloatingIP,
    Server,
    Share,
    Usage,
    Volume,
)
from localcloud.fabric.isolation.ownership import give_to_servers
from localcloud.fabric.links import relays
from localcloud.fabric.links.forwards import Forwards, own_addresses
from localcloud.fabric.links.outbound import DnsRelay, relay_names
from localcloud.fabric.process.client import OwnerClient
from localcloud.fabric.process.specs import share_to_json, volume_to_json
from localcloud.fabric.process.start import OwnerProcess
from localcloud.fabric.process.usage import reported
from localcloud.fabric.resolvers import Resolvers, host_resolver
from localcloud.guest.cloud_init.instance import EXIT_REBOOT

_POWER_OFF_SECONDS = 5.0


@dataclass
class _Booted:
    server: Server
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    listeners: list[relays.Listener] = field(default_factory=list)
    names: DnsRelay | None = None
    up: bool = False
    exit: Exit | None = None  # how it ended while it was not up yet


def absolute(path: Path) -> str:
    """A path that holds in another process too."""
    return str(path.resolve())


def _order(server: Server) -> dict[str, Any]:
    """Return the facts about a server for the fabric process."""
    return {
        "id": server.id,
        "hostname": server.hostname,
        "disk": absolute(server.disk),
        "image": None if server.root is None else absolute(server.root),
        "ports": [to_builtins(port) for port in server.ports],
        "vcpus": server.vcpus,
        "volumes": [volume_to_json(volume) for volume in server.volumes],
    }


def _facts(server: Server) -> bytes:
    """Return the secrets of a server."""
    user_data = server.user_data
    facts = {
        "id": server.id,
        "hostname": server.hostname,
        "metadata": server.metadata,
        "user_data": None if user_data is None else base64.b64encode(user_data).decode(),
        "vendor_data": server.vendor_data,
        "environment": server.environment,
    }
    return json.dumps(facts).encode()


@contextmanager
def _opened(server: Server) -> Iterator[list[int]]:
    """Yield the descriptors of a server's first process: its facts, its console."""
    opened = [os.memfd_create("server")]
    try:
        with open(opened[0], "wb", closefd=False) as file:
            file.write(_facts(server))
        appending = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        opened.append(os.open(server.console, appending, 0o600))
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


class Servers:
    """The running servers. ``on_exit`` is called for each that ends."""

    def __init__(
        self, process: OwnerProcess, on_exit: Callable[[Exit], None], resolvers: Resolvers
    ) -> None:
        self._resolvers = resolvers
        self.exports = Exports()
        self.client = OwnerClient(process, self._ended, self.exports.ask, self._lost)
        self.forwards = Forwards(self._dial, own_addresses)
        self._services = process.services
        self._root_id = process.findings.server_root
        self._giving = asyncio.Lock()
        self._on_exit = on_exit
        self._booted: dict[str, _Booted] = {}

    def running(self) -> frozenset[str]:
        """The ids of the servers that run."""
        return frozenset(self._booted)

    async def close(self) -> None:
        """End all servers and the fabric process."""
        await self.forwards.close()
        await self.client.close()
        for server_id in list(self._booted):
            self._forget(server_id)

    async def boot(self, server: Server) -> None:
        """Start a server, and serve its sockets; one that runs is left alone."""
        if server.id in self._booted:
            return
        booted = self._booted[server.id] = _Booted(server)
        try:
            server.disk.mkdir(parents=True, exist_ok=True)
            await self._give(server.disk, server.root)
            for volume in server.volumes:
                await self._give(volume.disk, volume.image)
            with _opened(server) as opened:
                descriptors = await self.client.ask("boot", opened, server=_order(server))
        except BaseException:
            self._booted.pop(server.id, None)
            raise
        tables, names, listening = descriptors[-2:], descriptors[-3], descriptors[:-3]
        for descriptor in listening:
            sock = socket.socket(fileno=descriptor)
            serve = partial(self._serve, booted)
            booted.listeners.append(relays.Listener(sock, serve, owner=lambda _: server.id))
        booted.names = DnsRelay(socket.socket(fileno=names), self._resolvers)
        self.forwards.server_started(server.id, server.ports, tables)
        booted.up = True
        if booted.exit is not None:
            self._release(booted)
            self._on_exit(booted.exit)

    async def attach_volume(self, server_id: str, volume: Volume) -> None:
        """Let a running server have a volume."""
        await self._give(volume.disk, volume.image)
        order = volume_to_json(volume)
        await self.client.ask("attach_volume", server_id=server_id, volume=order)

    async def mount_share(self, server_id: str, share: Share, face: Face, target: str) -> None:
        """Mount a share at a directory of a running server."""
        await self._give(share.disk)
        shown = share_to_json(share)
        await self.client.ask(
            "mount_share", server_id=server_id, share=shown, face=face, target=target
        )

    async def _give(self, *places: Path | None) -> None:
        if self._root_id is None:
            return
        for place in places:
            if place is None or place.stat().st_uid == self._root_id:
                continue
            if not any(place.iterdir()):  # a new disk: done sooner than a thread starts
                give_to_servers(place, self._root_id)
            else:
                async with self._giving:
                    await asyncio.to_thread(give_to_servers, place, self._root_id)

    def change_metadata(
        self, server_id: str, metadata: dict[str, object], ec2_metadata: dict[str, object]
    ) -> None:
        """Let a server read these documents from now on; one that does not run is left alone."""
        booted = self._booted.get(server_id)
        if booted is not None:
            booted.server = replace(booted.server, metadata=metadata, ec2_metadata=ec2_metadata)

    async def execute(
        self, server_id: str, command: Sequence[str], user: str, descriptors: Sequence[int]
    ) -> None:
        """Start a command in a server. See :data:`localcloud.fabric.interface.Execute`."""
        order = {"server_id": server_id, "command": list(command), "user": user}
        await self.client.ask("execute", descriptors, **order)

    async def usage(self) -> Mapping[str, Usage]:
        """Return the resource usage of each server."""
        if not self._booted:
            return {}
        (descriptor,) = await self.client.ask("measure")
        return reported(descriptor)

    async def power_off(self, server_id: str) -> None:
        """End a server, giving its programs a moment."""
        await self._end(server_id, "power_off")

    async def kill(self, server_id: str) -> None:
        """End a server immediately."""
        await self._end(server_id, "kill")

    async def _end(self, server_id: str, how: str) -> None:
        booted = self._booted.get(server_id)
        if booted is None:
            return
        await self.client.ask(how, server_id=server_id)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_POWER_OFF_SECONDS):
                await booted.ended.wait()
        if not booted.ended.is_set():
            await self.client.ask("kill", server_id=server_id)
            await booted.ended.wait()

    def _ended(self, message: dict[str, Any]) -> None:
        server_id, code = message["ended"], message["code"]
        asked = bool(message["asked"])
        self._report(Exit(server_id, code, asked, reboot=code == EXIT_REBOOT))

    def _lost(self) -> None:
        for server_id in list(self._booted):
            self._report(Exit(server_id, None, asked=False))

    def _report(self, end: Exit) -> None:
        booted = self._forget(end.server_id)
        if booted is not None and booted.up:
            self._on_exit(end)
        elif booted is not None:
            booted.exit = end

    def _forget(self, server_id: str) -> _Booted | None:
        booted = self._booted.pop(server_id, None)
        if booted is not None:
            self._release(booted)
            booted.ended.set()
        return booted

    def _release(self, booted: _Booted) -> None:
        for listener in booted.listeners:
            listener.close()
        booted.listeners.clear()
        if booted.names is not None:
            booted.names.close()
            booted.names = None
        self.forwards.server_ended(booted.server.id)

    async def _serve(self, booted: _Booted, near: relays.Streams) -> None:
        """Route an outgoing connection of a server by its original destination."""
        connection: socket.socket = near[1].get_extra_info("socket")
        target = relays.original_destination(connection)
        if target == METADATA:
            await relays.serve_metadata(booted.server, near)
        elif target == NAMES:
            await relay_names(near, host_resolver())
        elif target in self._services:
            await self.forwards.look_at(booted.server.id)
            await relays.relay(near, lambda: asyncio.open_connection(*target))
        elif (floating_ip := self.forwards.bound(target[0])) is not None:
            await relays.relay(near, lambda: self._dial(floating_ip, target[1]))

    async def _dial(self, floating_ip: FloatingIP, port: int) -> relays.Streams:
        if floating_ip.router_id is None:
            raise OSError("the floating address has no router")
        try:
            (descriptor,) = await self.client.ask(
                "connect", router_id=floating_ip.router_id, address=floating_ip.fixed_ip, port=port
            )
        except FabricError as error:
            raise OSError(str(error)) from error
        return await relays.await_connection(socket.socket(fileno=descriptor))
