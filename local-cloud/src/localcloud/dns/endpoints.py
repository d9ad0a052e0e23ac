"""All requests of the DNS API; this module is loaded when they are first asked for."""

from starlette.routing import BaseRoute

from localcloud.core.work import Work
from localcloud.dns.floating_ips import FloatingIPNames
from localcloud.dns.publishing import Publishing
from localcloud.dns.quotas import Quotas
from localcloud.dns.recordsets import RecordSets
from localcloud.dns.server import NameServer
from localcloud.dns.state import State
from localcloud.dns.zones import Zones


class Dns:
    """The DNS service: its parts put together."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.server = NameServer(state)
        self.work = Work()
        self._publishing = Publishing(state, self.server, self.work)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            *Zones(self._state, self._publishing).routes(),
            *RecordSets(self._state, self._publishing).routes(),
            *FloatingIPNames(self._state, self.server).routes(),
            *Quotas(self._state).routes(),
        ]

    async def start(self) -> None:
        """Answer for what is there, and take up what the last process left."""
        await self.server.start()
        self._publishing.resume()

    async def stop(self) -> None:
        """End the work and the name server."""
        await self.work.stop()
        await self.server.stop()
