"""Shared file systems: their parts put together; the one instance is ``cloud.one(...)``."""

from localcloud.core.cloud import Cloud
from localcloud.core.work import Work
from localcloud.shared_file_system import jobs, kinds
from localcloud.shared_file_system.content import Content
from localcloud.shared_file_system.exports import Exports
from localcloud.shared_file_system.servers import ShareServers
from localcloud.shared_file_system.state import State
from localcloud.shared_file_system.tools import ServiceContext


class SharedFileSystems:
    """The service; what servers ask about shares goes to ``exports``."""

    def __init__(self, cloud: Cloud) -> None:
        state, work = State(cloud), Work()
        servers = ShareServers(state)
        self.exports = Exports(state, servers, work)
        self.tools = ServiceContext(state, Content(state), servers, self.exports, work)

    def resume(self) -> None:
        """Take up what the last process left."""
        kinds.bootstrap(self.tools.state)
        jobs.resume(self.tools)

    async def stop(self) -> None:
        """Leave all work as it is; the next process takes it up."""
        await self.tools.work.stop()
        self.tools.servers.close()
