"""One request to the compute API."""

from typing import Any

from localcloud.block_storage.servers import ServerVolumes
from localcloud.compute.context import ServiceContext
from localcloud.compute.interfaces import Interfaces
from localcloud.compute.model import flavors, groups, hosts, servers
from localcloud.compute.model.state import State
from localcloud.compute.service import ComputeService
from localcloud.core.store import Document
from localcloud.web.api_request import ApiCall, Handler
from localcloud.web.http import (
    Answer,
    PageQuery,
    page,
    wrapped,
)
from localcloud.web.microversions import COMPUTE, Microversion


class Call(ApiCall[ComputeService], frozen=True):
    """A request with everything that its handler needs."""

    base = "/v2.1"
    versions = COMPUTE
    subjects = {
        "server_id": servers.find,
        "flavor_id": flavors.find,
        "group_id": groups.find,
        "aggregate_id": lambda state, _, key: hosts.aggregate(state, key),
    }

    version: Microversion

    @property
    def tools(self) -> ServiceContext:
        """The parts of the service."""
        return self.service.tools

    @property
    def state(self) -> State:
        """The documents of the compute service."""
        return self.service.tools.state

    @property
    def plugs(self) -> Interfaces:
        """The ports of servers."""
        return self.tools.plugs

    @property
    def volumes(self) -> ServerVolumes:
        """The volumes of servers."""
        return self.tools.volumes.servers

    def server(self) -> Document:
        """Return the server that the path names; raises NotFoundError for another project's."""
        return servers.find(self.state, self.context, self.argument("server_id"))

    def object(self, key: str) -> dict[str, Any]:
        """Return the object that the body wraps under ``key``."""
        return wrapped(self.body(), key)

    def paged(
        self, documents: list[Document], links: str, path: str, default: str = "asc"
    ) -> tuple[list[Document], dict[str, Any]]:
        """Return the page that is asked for, and the answer's member ``links`` if it has one."""
        asked = PageQuery.parse(self.request.query_params, default)
        found = page(documents, asked)
        if not found.more or not found.items:
            return found.items, {}
        return found.items, {links: self.next_link(path, found.items[-1]["id"])}


def always(answer: Document | None) -> Handler:
    """Return a handler that always gives the same answer, once the object of the path is found."""

    async def handle(*_: object) -> Answer:
        return answer

    return handle
