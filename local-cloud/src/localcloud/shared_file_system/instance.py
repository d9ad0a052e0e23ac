"""The parts of shared file systems. They load with the first request or mount."""

from localcloud.core.cloud import Cloud
from localcloud.core.work import Work
from localcloud.shared_file_system import jobs
from localcloud.shared_file_system.content import Content
from localcloud.shared_file_system.context import ServiceContext
from localcloud.shared_file_system.exports import Exports
from localcloud.shared_file_system.model import share_types
from localcloud.shared_file_system.model.state import State
from localcloud.shared_file_system.servers import ShareServers


class SharedFileSystems:
    """The one instance is ``cloud.one(SharedFileSystems)``. Mounts of servers go to ``exports``."""

    def __init__(self, cloud: Cloud) -> None:
        self.url = f"{cloud.settings.url}/share"
        state, work = State(cloud), Work()
        servers = ShareServers(state)
        self.exports = Exports(state, servers, work)
        self.tools = ServiceContext(state, Content(state), servers, self.exports, work)

    async def stop(self) -> None:
        """End the work; the next process resumes it."""
        await self.tools.work.stop()
        self.tools.servers.close()


def load(cloud: Cloud) -> SharedFileSystems:
    """Return the parts, which do the work that the last process left."""
    shares = cloud.one(SharedFileSystems)
    share_types.bootstrap(shares.tools.state)
    jobs.resume(shares.tools)
    return shares
