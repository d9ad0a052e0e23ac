"""Appliances in namespaces, as the cloud's event loop sees them."""

import socket

from msgspec import to_builtins

from localcloud.fabric.interface import Appliance, ListenAccess
from localcloud.fabric.links.forwards import Forwards
from localcloud.fabric.process.client import OwnerClient


class NamespaceAppliances:
    """Appliances. See :class:`localcloud.fabric.interface.Appliances`."""

    def __init__(self, client: OwnerClient, forwards: Forwards) -> None:
        self._client = client
        self._forwards = forwards

    async def ensure(self, appliance: Appliance) -> None:
        """Bring an appliance to exactly these ports."""
        ports = [to_builtins(port) for port in appliance.ports]
        tables = await self._client.ask("ensure_appliance", appliance_id=appliance.id, ports=ports)
        if tables:
            self._forwards.server_started(appliance.id, appliance.ports, tables)
        else:
            self._forwards.ports_changed(appliance.id, appliance.ports)

    async def remove(self, appliance_id: str) -> None:
        """Remove an appliance."""
        self._forwards.server_ended(appliance_id)
        await self._client.ask("remove_appliance", appliance_id=appliance_id)

    async def open(
        self, appliance_id: str, door: ListenAccess, address: str, port: int
    ) -> socket.socket:
        """Open a socket in the networks of the appliance."""
        (descriptor,) = await self._client.ask(
            "open_door", appliance_id=appliance_id, door=door, address=address, port=port
        )
        return socket.socket(fileno=descriptor)
