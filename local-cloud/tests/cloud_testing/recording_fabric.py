"""A fabric that only records its declarations."""

import asyncio
import shutil
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from localcloud.fabric.exports import Exports
from localcloud.fabric.interface import (
    Appliance,
    Capabilities,
    Execute,
    Exit,
    FabricError,
    Face,
    FloatingIP,
    Forwarding,
    ListenAccess,
    Network,
    Port,
    Router,
    Server,
    Share,
    Usage,
    Volume,
)
from localcloud.fabric.links.listen_access import make_socket, use_socket
from localcloud.fabric.process.plain import refuse
from localcloud.fabric.resolvers import Resolvers
from localcloud.fabric.storage import archives


class RecordingStorage:
    """Disks are plain directories here; attachments and mounts of servers are recorded."""

    def __init__(self, fabric: "RecordingFabric") -> None:
        self._fabric = fabric

    async def attach(self, server_id: str, volume: Volume) -> None:
        self._fabric._note("attach_volume", volume.id)
        self._fabric.volumes.setdefault(server_id, {})[volume.id] = volume

    async def detach(self, server_id: str, volume_id: str) -> None:
        self._fabric._note("detach_volume", volume_id)
        self._fabric.volumes.get(server_id, {}).pop(volume_id, None)

    async def mount(self, server_id: str, share: Share, face: Face, target: str) -> None:
        self._fabric._note("mount_share", share.id)
        self._fabric.shares.setdefault(server_id, {})[share.id] = face

    async def show(self, server_id: str, share: Share, face: Face) -> None:
        self._fabric._note("show_share", share.id)
        self._fabric.shares[server_id][share.id] = face

    async def release(self, share_id: str) -> None:
        self._fabric._note("release_share", share_id)
        faces = [shares.get(share_id) for shares in self._fabric.shares.values()]
        assert not {Face.WRITE, Face.READ} & set(faces), "it is closed first"

    async def copy(self, source: Path, target: Path) -> None:
        self._fabric._note("copy_disk", target.name)
        archives.copy(source, target)

    async def pack(self, disk: Path, archive: Path) -> None:
        self._fabric._note("pack_disk", disk.name)
        archives.pack(disk, archive)

    async def unpack(self, archive: Path, disk: Path) -> None:
        self._fabric._note("unpack_disk", disk.name)
        archives.unpack(archive, disk)

    async def remove(self, disk: Path) -> None:
        self._fabric._note("remove_disk", disk.name)
        shutil.rmtree(disk, ignore_errors=True)


class RecordingAppliances:
    """Appliances whose sockets are real ones of the machine's loopback interface."""

    def __init__(self, fabric: "RecordingFabric") -> None:
        self._fabric = fabric
        self.gate = asyncio.Event()
        self.gate.set()
        self.here: dict[str, Appliance] = {}
        # Host address of each listener, by its address and port.
        self.doors: dict[tuple[str, int], tuple[str, int]] = {}
        # Ports of the host for addresses and ports of servers.
        self.servers: dict[tuple[str, int], int] = {}

    async def ensure(self, appliance: Appliance) -> None:
        self._fabric._note("ensure_appliance", appliance.id)
        assert all(port.network_id in self._fabric.networks for port in appliance.ports)
        await self.gate.wait()
        self.here[appliance.id] = appliance

    async def remove(self, appliance_id: str) -> None:
        self._fabric._note("remove_appliance", appliance_id)
        self.here.pop(appliance_id, None)

    async def open(
        self, appliance_id: str, door: ListenAccess, address: str, port: int
    ) -> socket.socket:
        assert appliance_id in self.here or appliance_id in self._fabric.servers
        opened = make_socket(door, "127.0.0.1")
        if door in (ListenAccess.LISTEN, ListenAccess.RECEIVE):
            use_socket(opened, door, ("127.0.0.1", 0))
            self.doors[address, port] = opened.getsockname()
        elif (address, port) in self.servers:
            use_socket(opened, door, ("127.0.0.1", self.servers[address, port]))
        elif (address, port) in self.doors and door is ListenAccess.CONNECT:
            use_socket(opened, door, self.doors[address, port])
        else:
            opened.close()
            raise FabricError(f"nothing is at{address}:{port}")
        return opened


@dataclass
class RecordingFabric:
    """Holds the last declaration of each object, and every call in order."""

    # Pairs of method and id of the object.
    calls: list[tuple[str, str]] = field(default_factory=list)
    volumes: dict[str, dict[str, Volume]] = field(default_factory=dict)  # by server, then by volume
    # Mounts of servers: by server, then by share.
    shares: dict[str, dict[str, Face]] = field(default_factory=dict)

    @property
    def storage(self) -> RecordingStorage:
        return RecordingStorage(self)

    def __post_init__(self) -> None:
        self.resolvers = Resolvers()
        self.exports = Exports()
        self.appliances = RecordingAppliances(self)
        self.usage = self._measure

    async def _measure(self) -> dict[str, Usage]:
        return self.usages

    networks: dict[str, Network] = field(default_factory=dict)
    routers: dict[str, Router] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)
    floating_ips: dict[str, FloatingIP] = field(default_factory=dict)
    plugged: dict[str, list[str]] = field(default_factory=dict)
    usages: dict[str, Usage] = field(default_factory=dict)  # configured measurements of servers
    servers: dict[str, Server] = field(default_factory=dict)  # running servers
    paused: set[str] = field(default_factory=set)
    # Reasons by method: these methods raise FabricError.
    refusals: dict[str, str] = field(default_factory=dict)
    listening: list[Forwarding] = field(default_factory=list)
    on_exit: Callable[[Exit], None] | None = None
    execute: Execute = refuse

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(isolated=True, networks=True, packet_filter=True, overlay=True)

    def _note(self, method: str, object_id: str) -> None:
        self.calls.append((method, object_id))
        if method in self.refusals:
            raise FabricError(self.refusals[method])

    async def start(self, on_exit: Callable[[Exit], None]) -> None:
        self.on_exit = on_exit

    async def close(self) -> None:
        self.servers.clear()

    async def ensure_network(self, network: Network) -> None:
        self._note("ensure_network", network.id)
        self.networks[network.id] = network

    async def remove_network(self, network_id: str) -> None:
        self._note("remove_network", network_id)
        self.networks.pop(network_id, None)

    async def ensure_router(self, router: Router) -> None:
        self._note("ensure_router", router.id)
        legs = (*router.legs, *((router.gateway,) if router.gateway else ()))
        assert all(leg.network_id in self.networks for leg in legs), "networks come first"
        self.routers[router.id] = router

    async def remove_router(self, router_id: str) -> None:
        self._note("remove_router", router_id)
        self.routers.pop(router_id, None)

    async def ensure_port(self, port: Port) -> None:
        self._note("ensure_port", port.id)
        assert port.network_id in self.networks, "networks come first"
        self.ports[port.id] = port

    async def plug(self, server_id: str, port: Port) -> None:
        self._note("plug", port.id)
        self.plugged.setdefault(server_id, []).append(port.id)

    async def unplug(self, server_id: str, port_id: str) -> None:
        self._note("unplug", port_id)
        if port_id in self.plugged.get(server_id, []):
            self.plugged[server_id].remove(port_id)

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        self._note("ensure_floating_ip", floating_ip.id)
        self.floating_ips[floating_ip.id] = floating_ip

    async def remove_floating_ip(self, floating_ip_id: str) -> None:
        self._note("remove_floating_ip", floating_ip_id)
        self.floating_ips.pop(floating_ip_id, None)

    def forwardings(self) -> Sequence[Forwarding]:
        return tuple(self.listening)

    async def boot(self, server: Server) -> None:
        self._note("boot", server.id)
        self.volumes[server.id] = {volume.id: volume for volume in server.volumes}
        self.servers[server.id] = server

    async def ensure_metadata(
        self, server_id: str, metadata: dict[str, object], ec2_metadata: dict[str, object]
    ) -> None:
        if server_id in self.servers:
            self.servers[server_id] = replace(
                self.servers[server_id], metadata=metadata, ec2_metadata=ec2_metadata
            )

    async def stop_server(self, server_id: str) -> None:
        self._note("stop_server", server_id)
        self._end(server_id)

    async def delete_server(self, server_id: str, disk: Path) -> None:
        self._note("delete_server", server_id)
        self._end(server_id)

    async def pause(self, server_id: str, paused: bool) -> None:
        self._note("pause", server_id)
        if paused:
            self.paused.add(server_id)
        else:
            self.paused.discard(server_id)

    def running(self) -> frozenset[str]:
        return frozenset(self.servers)

    def exit(self, server_id: str, code: int = 0, *, reboot: bool = False) -> None:
        """Let a server end on its own."""
        self.servers.pop(server_id, None)
        if self.on_exit is not None:
            self.on_exit(Exit(server_id, code, asked=False, reboot=reboot))

    def _end(self, server_id: str) -> None:
        if self.servers.pop(server_id, None) is not None and self.on_exit is not None:
            self.on_exit(Exit(server_id, None, asked=True))
