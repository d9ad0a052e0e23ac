"""A cloud without servers and networks of its own, by choice or because they cannot be isolated.

Identity, images and every other API work; networks and routers can be declared and have no
effect; servers cannot be booted: they get the status ERROR, with the reason.
"""

from localcloud.fabric.interface import Capabilities, FabricError, FloatingIP, Server
from localcloud.fabric.process.plain import PlainFabric

SWITCHED_OFF = "Servers were switched off with --no-servers; start the cloud without that option."


class NoFabric(PlainFabric):
    """A fabric of plain processes that refuses to start any, for this reason."""

    def __init__(self, reason: str = SWITCHED_OFF) -> None:
        super().__init__()
        self._reason = reason
        self.capabilities = Capabilities(False, False, False, False, (reason,))
        self.appliances = None

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        """No address leads anywhere: there is nothing to watch."""

    async def boot(self, server: Server) -> None:
        """Refuse; raises :class:`FabricError`."""
        raise FabricError(self._reason)
