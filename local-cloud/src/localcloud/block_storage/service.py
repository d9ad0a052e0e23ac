"""The block storage API, version 3, as the application mounts it and as compute uses it.

Requests and servers write the desired state and a task into the documents of volumes, snapshots and
backups; :mod:`localcloud.block_storage.jobs` performs the tasks. Every task is in the store before
the request is answered, so that the next process resumes all unfinished tasks.
"""

import re
from functools import cached_property

from localcloud.block_storage import devices, jobs
from localcloud.block_storage.archives import Archives
from localcloud.block_storage.content import Content
from localcloud.block_storage.context import ServiceContext
from localcloud.block_storage.model import volume_types
from localcloud.block_storage.model.state import State
from localcloud.block_storage.servers import ServerVolumes
from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.web.http import RequestContext, nova_error, without_trailing_slash
from localcloud.web.microversions import BLOCK_STORAGE

_PROJECT = re.compile(r"/v3/[0-9a-f]{32}(?=/|$)")


class BlockStorageService(LazyService):
    """Cinder; the one instance is ``cloud.one(BlockStorageService)``."""

    type = "block-storage"
    name = "cinder"
    prefix = "/volume"
    endpoint = "/volume/v3/%(project_id)s"
    other_types = ("volumev3",)
    choice_paths = ("/",)
    api_module = "localcloud.block_storage.api.endpoints"
    render = staticmethod(nova_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        state = State(cloud)
        self.tools = ServiceContext(state, Content(state), Archives(cloud), Work())
        self.servers = ServerVolumes(self.tools)

    @cached_property
    def version(self) -> Document:
        media = {
            "base": "application/json",
            "type": "application/vnd.openstack.volume+json;version=3",
        }
        return {
            "id": "v3.0",
            "status": "CURRENT",
            "version": BLOCK_STORAGE.latest,
            "min_version": BLOCK_STORAGE.first,
            "updated": "2023-08-31T00:00:00Z",
            "links": [{"rel": "self", "href": f"{self.url}/v3/"}],
            "media-types": [media],
        }

    @cached_property
    def documents(self) -> Document:
        versions = {"versions": [self.version]}
        return {"/": versions, "/v3": versions}

    def normalize(self, path: str) -> str:
        # Clients may write their project ID after the version; the token names it anyway.
        return _PROJECT.sub("/v3", without_trailing_slash(path)) or "/"

    async def start(self) -> None:
        volume_types.bootstrap(self.tools.state)
        jobs.resume(self.tools)
        self.servers.resume()

    async def stop(self) -> None:
        await self.tools.work.stop()

    def check(self, who: RequestContext, requested: list[Document]) -> None:
        """Raise ApiError if a new server cannot have these block devices."""
        devices.check(self.tools, who, requested)

    async def prepare(self, who: RequestContext, server: Document) -> None:
        """Create and attach the volumes that a new server requests, before its first boot."""
        await devices.prepare(self.tools, self.servers, who, server)
