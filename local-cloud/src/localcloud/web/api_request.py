"""What handlers of several services ask of a request, and who may make it, in which version."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.web.http import (
    Answer,
    ApiError,
    NotFoundError,
    RequestContext,
    boolean,
    context,
    parse_json,
    respond,
)
from localcloud.web.microversions import Microversion, Microversions
from localcloud.web.permissions import Access, lacking, lacks_role

Handler = Callable[..., Awaitable[Answer]]


class ApiRequest(Struct, frozen=True):
    """A request whose body has been read."""

    request: Request
    context: RequestContext
    content: bytes
    """The body, read before anything is looked up: what a handler gets is of the same moment."""

    def argument(self, key: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[key])

    def query(self, key: str) -> str | None:
        """Return a value of the query string."""
        return self.request.query_params.get(key)

    def flag(self, key: str) -> bool:
        """Return a boolean of the query string; false where it is missing."""
        asked = self.query(key)
        return asked is not None and boolean(asked)

    def body(self) -> dict[str, Any]:
        """Return the whole body."""
        return parse_json(self.content)


class Endpoint(Struct, frozen=True):
    """A handler of an API with microversions, and where it is found."""

    method: str
    path: str
    handler: Handler
    access: Access | None = None
    """None: readers may read, members may write."""
    first: int = 0
    last: int | None = None
    """The minor numbers of the versions in which it exists; None: there is no last one."""
    status: int | None = None
    """Of its answers, where that is not 200, or 204 for an empty one."""

    def permit(self, caller: RequestContext) -> None:
        """Raise :class:`ForbiddenError` where the caller may not use it."""
        if lacks := lacking(caller, self.method, self.access):
            raise lacks_role(lacks)

    def offer(self, version: Microversion) -> None:
        """Raise :class:`NotFoundError` where it does not exist in a version."""
        if version.minor < self.first or (self.last is not None and version.minor > self.last):
            raise NotFoundError("The resource could not be found in this version of the API.")


def versioned_route(
    prefix: str,
    endpoint: Endpoint,
    versions: Microversions,
    handle: Callable[[Request, RequestContext, Microversion], Awaitable[Answer]],
) -> Route:
    """Return the route of an endpoint, whose answers confirm the version, refusals too."""

    async def respond_in_version(request: Request) -> Response:
        version = versions.negotiate(request.headers)
        try:
            endpoint.offer(version)
            caller = context(request)
            endpoint.permit(caller)
            answer = await handle(request, caller, version)
        except ApiError as error:
            error.headers.update(version.headers())
            raise
        response = respond(answer, endpoint.status)
        response.headers.update(version.headers())
        return response

    return Route(f"{prefix}{endpoint.path}", respond_in_version, methods=[endpoint.method])
