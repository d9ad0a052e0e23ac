"""The fabric of plain processes, for machines whose kernel forbids user namespaces.

A server is a session of processes in a directory of its own, with the rights of the user who runs
the cloud. Its fixed addresses stand for loopback addresses of the host, which it finds in its
environment; there are no networks and routers between them.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from localcloud.fabric.exports import Exports
from localcloud.fabric.interface import (
    Appliance,
    Appliances,
    Capabilities,
    Execute,
    Exit,
    FabricError,
    Face,
    FloatingIP,
    ListenAccess,
    Measure,
    Network,
    Port,
    Router,
    Server,
    Share,
    Storage,
    Usage,
    Volume,
)
from localcloud.fabric.isolation import tree
from localcloud.fabric.links import relays
from localcloud.fabric.links.forwards import Forwards
from localcloud.fabric.links.listen_access import make_socket, use_socket
from localcloud.fabric.links.listening import as_in_table
from localcloud.fabric.process.start import clean_environment
from localcloud.fabric.process.usage import of_processes
from localcloud.fabric.resolvers import Resolvers
from localcloud.fabric.storage import archives

_POWER_OFF_SECONDS = 5.0
_LACKS = (
    (
        "servers are plain processes of this user: they see the host's files, users and processes, "
        "and user data runs with this user's rights on the host itself"
    ),
    (
        "there are no networks, routers and packet filters: a server's address stands for a "
        "loopback address of the host (STOKER_ADDRESS in its environment), on which its programs "
        "must listen"
    ),
    "the metadata service is not at 169.254.169.254 but at STOKER_METADATA_URL",
    (
        "cloud-config makes no users, packages or settings; write_files writes below the server's "
        "own directory"
    ),
)


@dataclass
class _Process:
    server: Server
    process: "asyncio.subprocess.Process"
    metadata: relays.Listener
    watcher: "asyncio.Task[None] | None" = None
    asked: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class _Aliases:
    """The loopback addresses that stand for fixed addresses.

    ``third`` is their third byte: other clouds of this machine have others.
    """

    def __init__(self, third: int) -> None:
        self._third = third
        self._by_port: dict[str, str] = {}
        self._numbers = itertools.count(2)

    def of(self, port_id: str) -> str:
        """The loopback address of a port."""
        if port_id not in self._by_port:
            number = next(self._numbers)
            second, last = divmod(number, 256)
            self._by_port[port_id] = f"127.{77 + second % 100}.{self._third}.{last}"
        return self._by_port[port_id]

    def listened(self, floating_ip: FloatingIP) -> frozenset[str]:
        """The listening addresses that a floating address reaches."""
        return frozenset({as_in_table(self.of(floating_ip.port_id))})

    async def dial(self, floating_ip: FloatingIP, port: int) -> relays.Streams:
        """Connect to a server's port."""
        return await asyncio.open_connection(self.of(floating_ip.port_id), port)


async def refuse(
    server_id: str, command: Sequence[str], user: str, descriptors: Sequence[int]
) -> None:
    """Say that there are no namespaces to run a command in."""
    raise FabricError(
        "commands only run in servers with namespaces of their own;"
        ' "stoker doctor" says what this machine lacks'
    )


class PlainStorage:
    """Disks as plain directories. See :class:`localcloud.fabric.interface.Storage`."""

    def __init__(self, processes: Mapping[str, _Process]) -> None:
        self._processes = processes

    async def attach(self, server_id: str, volume: Volume) -> None:
        """Let a server find a volume in its directory."""
        running = self._processes.get(server_id)
        if running is not None:
            _link_volume(running.server, volume)

    async def detach(self, server_id: str, volume_id: str) -> None:
        """Remove the link; the server keeps its open files."""
        running = self._processes.get(server_id)
        for link in (running.server.disk / "dev").glob("vd*") if running is not None else ():
            if link.is_symlink() and volume_id in str(link.readlink()):
                link.unlink()

    async def mount(self, server_id: str, share: Share, face: Face, target: str) -> None:
        """Refuse; raises :class:`FabricError`."""
        raise FabricError("shares are only mounted in servers with namespaces of their own")

    async def show(self, server_id: str, share: Share, face: Face) -> None:
        """Nothing to do: no server has mounted it."""

    async def release(self, share_id: str) -> None:
        """Nothing to do: no server has mounted it."""

    async def copy(self, source: Path, target: Path) -> None:
        """Make a copy of a disk."""
        await asyncio.to_thread(archives.copy, source, target)

    async def pack(self, disk: Path, archive: Path) -> None:
        """Write the content of a disk into an archive."""
        await asyncio.to_thread(archives.pack, disk, archive)

    async def unpack(self, archive: Path, disk: Path) -> None:
        """Make a disk of an archive."""
        await asyncio.to_thread(archives.unpack, archive, disk)

    async def remove(self, disk: Path) -> None:
        """Remove a disk with all its files."""
        await asyncio.to_thread(shutil.rmtree, disk, ignore_errors=True)


class PlainAppliances:
    """Sockets at loopback addresses. See :class:`localcloud.fabric.interface.Appliances`."""

    def __init__(self, aliases: _Aliases, forwards: Forwards) -> None:
        self._aliases = aliases
        self._forwards = forwards
        self._known: set[str] = set()

    async def ensure(self, appliance: Appliance) -> None:
        """Note the ports of an appliance."""
        if appliance.id in self._known:
            self._forwards.ports_changed(appliance.id, appliance.ports)
            return
        self._known.add(appliance.id)
        tables = [os.open("/proc/self/net/tcp", os.O_RDONLY | os.O_CLOEXEC)]
        self._forwards.server_started(appliance.id, appliance.ports, tables)

    async def remove(self, appliance_id: str) -> None:
        """Forget an appliance."""
        self._known.discard(appliance_id)
        self._forwards.server_ended(appliance_id)

    async def open(
        self, appliance_id: str, door: ListenAccess, address: str, port: int
    ) -> socket.socket:
        """Open a socket at, or to, the loopback address that stands for a fixed one."""
        found = self._forwards.with_address(address)
        if found is None:
            raise FabricError(f"nothing that runs has the address {address}")
        alias = self._aliases.of(found.id)
        opened = make_socket(door, alias)
        try:
            use_socket(opened, door, (alias, port))
        except OSError as error:
            opened.close()
            raise FabricError(f"{door} {alias}:{port}: {error.strerror}") from error
        return opened


class PlainFabric:
    """Servers as plain processes. See :class:`localcloud.fabric.interface.Fabric`.

    ``reasons`` say why there are no namespaces; they lead the list of missing capabilities.
    ``third`` is the byte of loopback addresses that is unique to this cloud on the machine.
    """

    def __init__(self, reasons: Sequence[str] = (), third: int = 0) -> None:
        # Capabilities of this machine.
        self.capabilities = Capabilities(False, False, False, False, (*reasons, *_LACKS))
        self.execute: Execute = refuse  # commands in servers are not supported
        self.resolvers = Resolvers()
        self.exports = Exports()
        self._aliases = _Aliases(third)
        self._forwards = Forwards(self._aliases.dial, self._aliases.listened)
        self.forwardings = self._forwards.current
        self.usage: Measure = self._measure
        self._processes: dict[str, _Process] = {}
        self.storage: Storage = PlainStorage(self._processes)
        self.appliances: Appliances | None = PlainAppliances(self._aliases, self._forwards)
        self._on_exit: Callable[[Exit], None] = lambda _: None

    async def start(self, on_exit: Callable[[Exit], None]) -> None:
        """Note the callback for ends."""
        self._on_exit = on_exit

    async def close(self) -> None:
        """End every server."""
        await self._forwards.close()
        await asyncio.gather(*(self.stop_server(server_id) for server_id in list(self._processes)))

    async def ensure_network(self, network: Network) -> None:
        """Nothing to do: there are no segments."""

    async def remove_network(self, network_id: str) -> None:
        """Nothing to do: there are no segments."""

    async def ensure_router(self, router: Router) -> None:
        """Nothing to do: there are no routers."""

    async def remove_router(self, router_id: str) -> None:
        """Nothing to do: there are no routers."""

    async def ensure_port(self, port: Port) -> None:
        """Take new rules into account for floating addresses."""
        self._forwards.port_changed(port)

    async def plug(self, server_id: str, port: Port) -> None:
        """Give a running server a port; its processes are not notified."""
        self._forwards.port_added(server_id, port)

    async def unplug(self, server_id: str, port_id: str) -> None:
        """Take a port off a server."""
        self._forwards.port_removed(port_id)

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        """Bind the address."""
        # The router is what a floating address needs elsewhere; here any will do.
        self._forwards.bind(replace(floating_ip, router_id=floating_ip.router_id or "none"))

    async def remove_floating_ip(self, floating_ip_id: str) -> None:
        """Unbind the address."""
        self._forwards.unbind(floating_ip_id)

    def running(self) -> frozenset[str]:
        """The ids of the servers whose first process lives."""
        return frozenset(self._processes)

    async def _measure(self) -> Mapping[str, Usage]:
        """Return the usage of each server, without its network, which is the machine's."""
        firsts = {key: running.process.pid for key, running in self._processes.items()}
        return await asyncio.to_thread(of_processes, firsts) if firsts else {}

    async def boot(self, server: Server) -> None:
        """Start the server's processes in its directory."""
        if server.id in self._processes:
            return
        if server.root is not None:
            raise FabricError(
                "an unpacked image cannot be booted without user namespaces; use the image 'host'"
            )
        alias = self._aliases.of(server.ports[0].id) if server.ports else "127.0.0.1"
        listening = socket.socket()
        listening.bind((alias, 0))
        listening.listen(16)
        listening.setblocking(False)

        def answer(near: relays.Streams) -> Awaitable[None]:
            # The processes may ask before they are noted here.
            running = self._processes.get(server.id)
            return relays.serve_metadata(server if running is None else running.server, near)

        metadata = relays.Listener(listening, answer)
        url = f"http://{alias}:{listening.getsockname()[1]}"
        try:
            process = await _spawn(server, alias, url)
        except OSError as error:
            metadata.close()
            raise FabricError(f"server {server.id} could not be started: {error}") from error
        running = self._processes[server.id] = _Process(server, process, metadata)
        running.watcher = asyncio.create_task(self._watch(server.id, running))
        tables = [os.open("/proc/self/net/tcp", os.O_RDONLY | os.O_CLOEXEC)]
        self._forwards.server_started(server.id, server.ports, tables)

    async def _watch(self, server_id: str, running: _Process) -> None:
        code = await running.process.wait()
        running.metadata.close()
        self._forwards.server_ended(server_id)
        self._processes.pop(server_id, None)
        running.ended.set()
        self._on_exit(Exit(server_id, code, running.asked))

    async def ensure_metadata(
        self, server_id: str, metadata: dict[str, object], ec2_metadata: dict[str, object]
    ) -> None:
        """Let a running server read these documents from now on."""
        running = self._processes.get(server_id)
        if running is not None:
            running.server = replace(running.server, metadata=metadata, ec2_metadata=ec2_metadata)

    async def stop_server(self, server_id: str) -> None:
        """Power off: all processes end, the directory stays."""
        running = self._processes.get(server_id)
        if running is None:
            return
        running.asked = True
        if running.process.stdin is not None:
            running.process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_POWER_OFF_SECONDS):
                await running.ended.wait()

    async def delete_server(self, server_id: str, disk: Path) -> None:
        """Power off and remove the directory."""
        await self.stop_server(server_id)
        await self.storage.remove(disk)

    async def pause(self, server_id: str, paused: bool) -> None:
        """Freeze or thaw all processes of the server."""
        running = self._processes.get(server_id)
        if running is not None:
            running.process.send_signal(signal.SIGUSR1 if paused else signal.SIGUSR2)


def _link_volume(server: Server, volume: Volume) -> None:
    """Show a volume below the server's directory, which stands for its root directory."""
    with tree.opened_disk(volume.disk) as disk:
        os.close(tree.open_directory(disk, ("upper", "root"), make=True))
    content = volume.disk / "upper/root"
    link = server.disk / "dev" / volume.device
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(content)


async def _spawn(server: Server, alias: str, url: str) -> "asyncio.subprocess.Process":
    server.disk.mkdir(parents=True, exist_ok=True)
    for volume in server.volumes:
        _link_volume(server, volume)
    user_data = server.user_data
    spec = {
        "id": server.id,
        "hostname": server.hostname,
        "disk": str(server.disk),
        "metadata": server.metadata,
        "user_data": None if user_data is None else base64.b64encode(user_data).decode(),
        "environment": {
            "STOKER_ADDRESS": alias,
            "STOKER_METADATA_URL": url,
            "HOSTNAME": server.hostname,
            **server.environment,
            "HOME": str(server.disk),
        },
    }
    with server.console.open("ab") as console:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "localcloud.fabric.process.supervisor",
            stdin=subprocess.PIPE,
            stdout=console,
            stderr=console,
            start_new_session=True,
            env=clean_environment(),
        )
    assert process.stdin is not None
    process.stdin.write(json.dumps(spec).encode() + b"\n")
    await process.stdin.drain()
    return process
