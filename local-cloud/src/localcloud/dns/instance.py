"""The parts of the DNS service. They load with its first request or zone."""

from localcloud.core.cloud import Cloud
from localcloud.core.work import Work
from localcloud.dns.jobs import Publishing
from localcloud.dns.model.state import State
from localcloud.dns.name_server.server import NameServer


class Dns:
    """The state, the name server, and the publishing of changes to it."""

    def __init__(self, cloud: Cloud) -> None:
        self.state = State(cloud)
        self.server = NameServer(self.state)
        self._work = Work()
        self.publishing = Publishing(self.state, self.server, self._work)

    async def start(self) -> None:
        """Start the name server, and resume the changes that the last process left."""
        await self.server.start()
        self.publishing.resume()

    async def stop(self) -> None:
        """End the work and the name server."""
        await self._work.stop()
        await self.server.stop()


def load(cloud: Cloud) -> Dns:
    """Return the parts. The name server starts with the first zone that is published."""
    return Dns(cloud)
