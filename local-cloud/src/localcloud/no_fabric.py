"""A cloud without servers and networks of its own: the choice ``serve --no-servers``.

Identity, images and every other API work; networks and routers can be declared and have no
effect; servers cannot be booted.
"""

from localcloud.fabric.interface import Capabilities, FabricError, FloatingIP, Server
from localcloud.fabric.plain import PlainFabric

_LACKS = "Servers were switched off with --no-servers; start the cloud without that option."


class NoFabric(PlainFabric):
    """A fabric of plain processes that refuses to start any."""

    def __init__(self) -> None:
        super().__init__()
        self.capabilities = Capabilities(False, False, False, False, (_LACKS,))
        self.appliances = None

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        """No address leads anywhere: there is nothing to watch."""

    async def boot(self, server: Server) -> None:
        """Refuse; raises :class:`FabricError`."""
        raise FabricError(_LACKS)
