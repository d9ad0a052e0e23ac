"""The compute API, version 2.1, as the application mounts it.

A request writes the desired state of a server and a task into its document and is answered;
:mod:`localcloud.compute.machine` performs the task on the fabric, one at a time for each server.
The document is in the store before the request is answered: the next process resumes every task
that this one leaves, and boots the servers that ran.
"""

import re
from functools import cached_property

from localcloud.block_storage.service import BlockStorageService
from localcloud.compute.context import ServiceContext
from localcloud.compute.images import Images
from localcloud.compute.interfaces import Interfaces, leaving
from localcloud.compute.jobs import after_restart, jobs
from localcloud.compute.live_metadata import LiveMetadata
from localcloud.compute.machine import Machine
from localcloud.compute.model import flavors, hosts
from localcloud.compute.model.state import State
from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.store import Document
from localcloud.network.service import NetworkService
from localcloud.web.http import nova_error, without_trailing_slash
from localcloud.web.microversions import COMPUTE

_PROJECT = re.compile(r"/v2\.1/[0-9a-f]{32}(?=/)")
_MEDIA = {"base": "application/json", "type": "application/vnd.openstack.compute+json;version=2.1"}


class ComputeService(LazyService):
    """Nova; the one instance is ``cloud.one(ComputeService)``."""

    type = "compute"
    name = "nova"
    prefix = "/compute"
    endpoint = "/compute/v2.1"
    api_module = "localcloud.compute.api.endpoints"
    render = staticmethod(nova_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        state = State(cloud)
        self.tools = ServiceContext(
            state=state,
            machine=Machine(state),
            plugs=Interfaces(state, cloud.one(NetworkService)),
            images=Images(cloud),
            volumes=cloud.one(BlockStorageService),
        )
        self.tools.machine.teach(jobs(self.tools))
        self._live_metadata = LiveMetadata(self.tools)
        cloud.exit_listeners.append(self.tools.machine.exited)

    @cached_property
    def version(self) -> Document:
        return {
            "id": "v2.1",
            "status": "CURRENT",
            "version": COMPUTE.latest,
            "min_version": COMPUTE.first,
            "updated": "2013-07-23T11:33:21Z",
            "links": [{"rel": "self", "href": f"{self.url}/v2.1/"}],
        }

    @cached_property
    def documents(self) -> Document:
        detailed = {**self.version, "media-types": [_MEDIA]}
        return {"/": {"versions": [self.version]}, "/v2.1": {"version": detailed}}

    def normalize(self, path: str) -> str:
        # Clients may write their project ID after the version; the token names it anyway.
        return _PROJECT.sub("/v2.1", without_trailing_slash(path))

    async def start(self) -> None:
        state = self.tools.state
        flavors.bootstrap(state)
        hosts.bootstrap(state)
        for server in state.servers.values():
            if server["snapshot"] is not None:
                self.tools.images.give_up(server["snapshot"])
            resumed = after_restart(server)
            if resumed is not server:
                state.servers.put(resumed)
            for port_id in leaving(resumed):
                self.tools.machine.aside(self.tools.plugs.detach(server["id"], port_id))
            if resumed["task_state"] is not None:
                self.tools.machine.work_on(server["id"])

    async def stop(self) -> None:
        await self._live_metadata.stop()
        await self.tools.machine.stop()
