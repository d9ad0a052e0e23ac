"""One request to the compute API, and how a handler becomes a route.

A handler is a function from a :class:`Call` to an answer. Where its path names a server, a flavor,
a server group or an aggregate, it gets that, which the caller may see, as well. An
:class:`Endpoint` says where it is found, who may use it and in which microversions it exists.
"""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from localcloud.block_storage.servers import ServerVolumes
from localcloud.compute import flavors, groups, hosts, servers
from localcloud.compute.plugs import Interfaces
from localcloud.compute.state import State
from localcloud.compute.tools import ServiceContext
from localcloud.core.store import Document
from localcloud.web.api_request import ApiRequest, Endpoint, Handler, versioned_route
from localcloud.web.http import (
    Answer,
    BadRequestError,
    PageQuery,
    RequestContext,
    page,
    read_body,
    wrapped,
)
from localcloud.web.microversions import COMPUTE, Microversion


class Call(ApiRequest, frozen=True):
    """A request with everything that its handler needs."""

    version: Microversion
    tools: ServiceContext

    @property
    def state(self) -> State:
        """The documents of the compute service."""
        return self.tools.state

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

    def link(self, path: str) -> str:
        """Return the URL of a path of this API, which begins with a slash."""
        return f"{self.state.cloud.settings.url}/compute/v2.1{path}"

    def links(self, path: str) -> list[dict[str, str]]:
        """Return the two links that views of a resource have."""
        bookmark = f"{self.state.cloud.settings.url}/compute{path}"
        return [{"rel": "self", "href": self.link(path)}, {"rel": "bookmark", "href": bookmark}]

    def paged(
        self, documents: list[Document], links: str, path: str, default: str = "asc"
    ) -> tuple[list[Document], dict[str, Any]]:
        """Return the page that is asked for, and the answer's member ``links`` if it has one."""
        asked = PageQuery.parse(self.request.query_params, default)
        found = page(documents, asked)
        if not found.more or not found.items:
            return found.items, {}
        url = self.request.url.include_query_params(marker=found.items[-1]["id"])
        href = f"{self.link(path)}?{url.query}"
        return found.items, {links: [{"rel": "next", "href": href}]}


_SUBJECTS: Mapping[str, Callable[[State, RequestContext, str], Document]] = {
    "server_id": servers.find,
    "flavor_id": flavors.find,
    "group_id": groups.find,
    "aggregate_id": lambda state, _, key: hosts.aggregate(state, key),
}
"""Finders of the objects that a path names, by part of the path; each raises NotFoundError."""


def endpoint_route(endpoint: Endpoint, tools: ServiceContext) -> Route:
    """Return the route of an endpoint, below ``/v2.1``."""
    subject = next((key for key in _SUBJECTS if f"{{{key}}}" in endpoint.path), None)

    async def handle(request: Request, caller: RequestContext, version: Microversion) -> Answer:
        call = Call(request, caller, await read_body(request), version, tools)
        if subject is None:
            return await endpoint.handler(call)
        found = _SUBJECTS[subject](tools.state, caller, call.argument(subject))
        return await endpoint.handler(call, found)

    return versioned_route("/v2.1", endpoint, COMPUTE, handle)


def always(answer: Document | None) -> Handler:
    """Return the handler that always answers the same, once what the path names is found."""

    async def handle(*_: object) -> Answer:
        return answer

    return handle


def single(body: dict[str, Any], where: str) -> tuple[str, Any]:
    """Return the only key of an action body and its value."""
    if len(body) != 1:
        raise BadRequestError(f"The body of {where} must have exactly one action.")
    return next(iter(body.items()))
