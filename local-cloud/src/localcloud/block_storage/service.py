"""The block storage service: its parts put together, and what it does when the cloud starts."""

from localcloud.block_storage import devices, jobs, kinds
from localcloud.block_storage.archives import Archives
from localcloud.block_storage.content import Content
from localcloud.block_storage.servers import ServerVolumes
from localcloud.block_storage.state import State
from localcloud.block_storage.tools import ServiceContext
from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.web.http import RequestContext


class BlockStorage:
    """The block storage service; the one instance is ``cloud.one(BlockStorage)``."""

    def __init__(self, cloud: Cloud) -> None:
        state = State(cloud)
        self.tools = ServiceContext(state, Content(state), Archives(cloud), Work())
        self.servers = ServerVolumes(self.tools)

    async def start(self) -> None:
        """Take up what the last process left."""
        kinds.bootstrap(self.tools.state)
        jobs.resume(self.tools)
        self.servers.resume()

    async def stop(self) -> None:
        """Leave all work as it is; the next start takes it up."""
        await self.tools.work.stop()

    def check(self, who: RequestContext, wanted: list[Document]) -> None:
        """Raise ApiError where a new server cannot have these block devices."""
        devices.check(self.tools, who, wanted)

    async def prepare(self, who: RequestContext, server: Document) -> None:
        """Make and attach what a new server asks for, before its first boot."""
        await devices.prepare(self.tools, self.servers, who, server)
