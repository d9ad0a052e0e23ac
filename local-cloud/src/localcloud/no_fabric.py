"""A cloud without servers and networks of its own: the choice ``serve --no-servers``.

Identity, images and every other API work; networks and routers can be declared and have no
effect; servers cannot be booted.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from localcloud.fabric.execute import refuse
from localcloud.fabric.interface import (
    Capabilities,
    Execute,
    Exit,
    FabricError,
    FloatingIP,
    Forwarding,
    Network,
    Port,
    Router,
    Server,
)

_LACKS = "Servers were switched off with --no-servers; start the cloud without that option."


class NoFabric:
    """A fabric that makes nothing and refuses to boot servers."""

    execute: Execute = staticmethod(refuse)

    @property
    def capabilities(self) -> Capabilities:
        """Nothing is possible, on request."""
        return Capabilities(
            isolated=False, networks=False, packet_filter=False, overlay=False, lacks=(_LACKS,)
        )

    async def start(self, on_exit: Callable[[Exit], None]) -> None:
        """Nothing to start."""

    async def close(self) -> None:
        """Nothing to end."""

    async def ensure_network(self, network: Network) -> None:
        """Networks have no effect."""

    async def remove_network(self, network_id: str) -> None:
        """Networks have no effect."""

    async def ensure_router(self, router: Router) -> None:
        """Routers have no effect."""

    async def remove_router(self, router_id: str) -> None:
        """Routers have no effect."""

    async def ensure_port(self, port: Port) -> None:
        """Ports have no effect."""

    async def plug(self, server_id: str, port: Port) -> None:
        """Ports have no effect."""

    async def unplug(self, server_id: str, port_id: str) -> None:
        """Ports have no effect."""

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        """Floating addresses have no effect."""

    async def remove_floating_ip(self, floating_ip_id: str) -> None:
        """Floating addresses have no effect."""

    def forwardings(self) -> Sequence[Forwarding]:
        """No address leads anywhere."""
        return ()

    async def boot(self, server: Server) -> None:
        """Refuse; raises :class:`FabricError`."""
        raise FabricError(_LACKS)

    async def ensure_metadata(
        self, server_id: str, metadata: dict[str, object], ec2_metadata: dict[str, object]
    ) -> None:
        """No server reads documents."""

    async def stop_server(self, server_id: str) -> None:
        """No server runs."""

    async def delete_server(self, server_id: str, disk: Path) -> None:
        """No server has a disk."""

    async def pause(self, server_id: str, paused: bool) -> None:
        """Refuse; raises :class:`FabricError`."""
        raise FabricError(_LACKS)

    def running(self) -> frozenset[str]:
        """No server runs."""
        return frozenset()
