"""One request to the compute API, and how a handler becomes a route.

A handler is a function from a :class:`Call` to an answer. Where its path names a server, a flavor,
a server group or an aggregate, it gets that, which the caller may see, as well. An
:class:`Endpoint` says where it is found, who may use it and in which microversions it exists.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.api_request import Access, ApiRequest, lacking
from localcloud.block_storage.servers import ServerVolumes
from localcloud.compute import flavors, groups, hosts, servers
from localcloud.compute.microversion import MAXIMUM, MINIMUM, Microversion, negotiate
from localcloud.compute.plugs import Plugs
from localcloud.compute.state import State
from localcloud.compute.tools import Tools
from localcloud.http import (
    Answer,
    ApiError,
    BadRequest,
    Forbidden,
    NotFound,
    PageQuery,
    RequestContext,
    context,
    page,
    parse_json,
    read_body,
    respond,
    wrapped,
)
from localcloud.store import Document


@dataclass(frozen=True)
class Call(ApiRequest):
    """A request with everything that its handler needs."""

    version: Microversion
    tools: Tools

    @property
    def state(self) -> State:
        """The documents of the compute service."""
        return self.tools.state

    @property
    def plugs(self) -> Plugs:
        """The ports of servers."""
        return self.tools.plugs

    @property
    def volumes(self) -> ServerVolumes:
        """The volumes of servers."""
        return self.tools.volumes.servers

    def server(self) -> Document:
        """Return the server that the path names; raises NotFound for another project's."""
        return servers.find(self.state, self.context, self.argument("server_id"))

    def object(self, key: str) -> dict[str, Any]:
        """Return the object that the body wraps under ``key``."""
        return wrapped(self.body(), key)

    def body(self) -> dict[str, Any]:
        """Return the whole body."""
        return parse_json(self.content)

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


Handler = Callable[..., Awaitable[Answer]]
_SUBJECTS: Mapping[str, Callable[[State, RequestContext, str], Document]] = {
    "server_id": servers.find,
    "flavor_id": flavors.find,
    "group_id": groups.find,
    "aggregate_id": lambda state, _, key: hosts.aggregate(state, key),
}
"""How what a path names is found, by the name of the part; raises NotFound."""


@dataclass(frozen=True)
class Endpoint:
    """A handler and where it is found."""

    method: str
    path: str
    handler: Handler
    access: Access | None = None
    """None: readers may read, members may write."""
    first: int = MINIMUM
    last: int = MAXIMUM
    """The microversions in which it exists."""
    status: int | None = None
    """Of its answers, where that is not 200, or 204 for an empty one."""

    def permit(self, caller: RequestContext) -> None:
        """Raise :class:`Forbidden` where the caller may not use it."""
        if lacks := lacking(caller, self.method, self.access):
            raise Forbidden(f"Policy does not allow this request: it needs the role {lacks.role}.")


def endpoint_route(endpoint: Endpoint, tools: Tools) -> Route:
    """Return the route of an endpoint, below ``/v2.1``."""
    subject = next((key for key in _SUBJECTS if f"{{{key}}}" in endpoint.path), None)

    async def handle(request: Request) -> Response:
        version = negotiate(request.headers)
        try:
            if not version.within(endpoint.first, endpoint.last):
                raise NotFound("The resource could not be found in this version of the API.")
            caller = context(request)
            endpoint.permit(caller)
            call = Call(request, caller, await read_body(request), version, tools)
            found = []
            if subject is not None:
                found.append(_SUBJECTS[subject](tools.state, caller, call.argument(subject)))
            answer = await endpoint.handler(call, *found)
        except ApiError as error:
            error.headers.update(version.headers())
            raise
        response = respond(answer, endpoint.status)
        response.headers.update(version.headers())
        return response

    return Route(f"/v2.1{endpoint.path}", handle, methods=[endpoint.method])


def always(answer: Document | None) -> Handler:
    """Return the handler that always answers the same, once what the path names is found."""

    async def handle(*_: object) -> Answer:
        return answer

    return handle


def single(body: dict[str, Any], where: str) -> tuple[str, Any]:
    """Return the only key of an action body and its value."""
    if len(body) != 1:
        raise BadRequest(f"The body of {where} must have exactly one action.")
    return next(iter(body.items()))
