"""The fabric on user namespaces.

A fabric process makes the namespaces and hands out their sockets; this side, on the cloud's event
loop, serves those sockets.
"""

import socket
from collections.abc import Callable
from pathlib import Path

from msgspec import to_builtins

from localcloud.fabric.interface import (
    Appliances,
    Execute,
    Exit,
    Face,
    FloatingIP,
    Measure,
    Network,
    Port,
    Router,
    Share,
    Storage,
    Volume,
)
from localcloud.fabric.links.outbound import Outbound
from localcloud.fabric.process.appliances import NamespaceAppliances
from localcloud.fabric.process.servers import Servers
from localcloud.fabric.process.specs import share_to_json
from localcloud.fabric.process.start import OwnerProcess
from localcloud.fabric.resolvers import Resolvers


class ServerStorage:
    """The disks and volumes of servers. See :class:`localcloud.fabric.interface.Storage`."""

    def __init__(self, servers: Servers) -> None:
        self._client = servers.client
        self._servers = servers

    async def attach(self, server_id: str, volume: Volume) -> None:
        """Let a running server have a volume."""
        await self._servers.attach_volume(server_id, volume)

    async def detach(self, server_id: str, volume_id: str) -> None:
        """Take a volume away from a server."""
        await self._client.ask("detach_volume", server_id=server_id, volume_id=volume_id)

    async def mount(self, server_id: str, share: Share, face: Face, target: str) -> None:
        """Mount a share at a directory of a running server."""
        await self._servers.mount_share(server_id, share, face, target)

    async def show(self, server_id: str, share: Share, face: Face) -> None:
        """Let a server see another face of a share wherever it has mounted that."""
        shown = share_to_json(share)
        await self._client.ask("show_share", server_id=server_id, share=shown, face=face)

    async def release(self, share_id: str) -> None:
        """Release the content of a share."""
        await self._client.ask("release_share", share_id=share_id)

    async def copy(self, source: Path, target: Path) -> None:
        """Make a copy of a disk."""
        await self._client.ask_for_disks("copy_disk", source, target)

    async def pack(self, disk: Path, archive: Path) -> None:
        """Write the content of a disk into an archive."""
        await self._client.ask_for_disks("pack_disk", disk, archive)

    async def unpack(self, archive: Path, disk: Path) -> None:
        """Make a disk of an archive."""
        await self._client.ask_for_disks("unpack_disk", archive, disk)

    async def remove(self, disk: Path) -> None:
        """Remove a disk with all its files."""
        await self._client.ask_for_disks("remove_disk", disk)


class NamespaceFabric:
    """Networks and servers made of namespaces. See :class:`localcloud.fabric.interface.Fabric`.

    ``process`` is the fabric process.
    """

    def __init__(self, process: OwnerProcess) -> None:
        self.capabilities = process.findings.capabilities
        self._on_exit: Callable[[Exit], None] = lambda _: None
        self.resolvers = Resolvers()
        self._outbound = Outbound(self.resolvers)
        self._servers = Servers(process, lambda end: self._on_exit(end), self.resolvers)
        self.exports = self._servers.exports
        self.execute: Execute = self._servers.execute
        self.boot = self._servers.boot
        self.storage: Storage = ServerStorage(self._servers)
        self.appliances: Appliances | None = NamespaceAppliances(
            self._servers.client, self._servers.forwards
        )
        self.stop_server = self._servers.power_off
        self.running = self._servers.running
        self.usage: Measure = self._servers.usage
        self.forwardings = self._servers.forwards.current

    async def start(self, on_exit: Callable[[Exit], None]) -> None:
        """Start to serve the sockets of servers."""
        self._on_exit = on_exit
        self._servers.client.start()

    async def close(self) -> None:
        """End every server and remove all that was made."""
        self._outbound.close()
        await self._servers.close()

    async def ensure_network(self, network: Network) -> None:
        """Make the segment."""
        order = {"id": network.id, "mtu": network.mtu}
        await self._servers.client.ask("ensure_network", network=order)

    async def remove_network(self, network_id: str) -> None:
        """Remove the segment."""
        await self._servers.client.ask("remove_network", network_id=network_id)

    async def ensure_router(self, router: Router) -> None:
        """Bring the router to exactly these legs, gateway and routes."""
        opened = await self._servers.client.ask("ensure_router", router=to_builtins(router))
        if opened:
            connections, questions = (socket.socket(fileno=number) for number in opened)
            self._outbound.serve(router.id, connections, questions)

    async def remove_router(self, router_id: str) -> None:
        """Remove the router."""
        self._outbound.release(router_id)
        await self._servers.client.ask("remove_router", router_id=router_id)

    async def ensure_port(self, port: Port) -> None:
        """Bring a port of a running server up to date."""
        server_id = self._servers.forwards.holder(port.id)
        if server_id is not None:
            order = to_builtins(port)
            await self._servers.client.ask("ensure_port", server_id=server_id, port=order)
            self._servers.forwards.port_changed(port)

    async def plug(self, server_id: str, port: Port) -> None:
        """Attach a port to a running server."""
        order = to_builtins(port)
        await self._servers.client.ask("plug", server_id=server_id, port=order)
        self._servers.forwards.port_added(server_id, port)

    async def unplug(self, server_id: str, port_id: str) -> None:
        """Take a port off a server."""
        await self._servers.client.ask("unplug", server_id=server_id, port_id=port_id)
        self._servers.forwards.port_removed(port_id)

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        """Bind the address."""
        self._servers.forwards.bind(floating_ip)

    async def remove_floating_ip(self, floating_ip_id: str) -> None:
        """Unbind the address."""
        self._servers.forwards.unbind(floating_ip_id)

    async def ensure_metadata(
        self, server_id: str, metadata: dict[str, object], ec2_metadata: dict[str, object]
    ) -> None:
        """Let a running server read these documents from now on."""
        self._servers.change_metadata(server_id, metadata, ec2_metadata)

    async def delete_server(self, server_id: str, disk: Path) -> None:
        """Power off and remove the disk."""
        await self._servers.kill(server_id)
        await self.storage.remove(disk)

    async def pause(self, server_id: str, paused: bool) -> None:
        """Freeze or thaw all processes of the server."""
        await self._servers.client.ask("pause", server_id=server_id, paused=paused)
