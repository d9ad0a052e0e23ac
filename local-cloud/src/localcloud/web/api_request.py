"""Requests of APIs as their handlers get them, and how an endpoint becomes a route.

An :class:`Endpoint` goes in, with the subclass of :class:`ApiCall` of its service; a route comes
out. Before a handler runs, the route has negotiated the version, checked the role of the caller,
read the body, and found the object that the path names. Responses and errors state the version.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.web.http import (
    Answer,
    ApiError,
    BadRequestError,
    NotFoundError,
    RequestContext,
    boolean,
    context,
    parse_json,
    read_body,
    respond,
)
from localcloud.web.microversions import Microversion, Microversions
from localcloud.web.permissions import Access, lacking, lacks_role

Handler = Callable[..., Awaitable[Answer]]


class ServiceWithUrl(Protocol):
    """A service whose responses link to its objects."""

    url: str


S = TypeVar("S", bound=ServiceWithUrl)


class ApiRequest(Struct, frozen=True):
    """A request of a known caller whose body has been read."""

    request: Request
    context: RequestContext
    content: bytes  # the body

    def argument(self, key: str) -> str:
        """Return a variable of the path."""
        return str(self.request.path_params[key])

    def query(self, key: str) -> str | None:
        """Return a value of the query string."""
        return self.request.query_params.get(key)

    def flag(self, key: str) -> bool:
        """Return a boolean of the query string; false where it is missing."""
        text = self.query(key)
        return text is not None and boolean(text)

    def body(self) -> dict[str, Any]:
        """Return the JSON object of the body; raises BadRequestError."""
        return parse_json(self.content)


class Endpoint(Struct, frozen=True):
    """A handler of an API, and the requests that it answers."""

    method: str
    path: str
    handler: Handler
    access: Access | None = None  # None: readers may read, members may write
    first: int = 0  # first minor version that has the endpoint
    last: int | None = None  # last one; None: the newest has it
    status: int | None = None  # None: 200, or 204 for an empty response

    def permit(
        self, caller: RequestContext, refusal: Callable[[Access], ApiError] = lacks_role
    ) -> None:
        """Raise the refusal if the caller may not use the endpoint."""
        if lacks := lacking(caller, self.method, self.access):
            raise refusal(lacks)

    def offer(self, version: Microversion) -> None:
        """Raise :class:`NotFoundError` if a version does not have the endpoint."""
        if version.minor < self.first or (self.last is not None and version.minor > self.last):
            raise NotFoundError("The resource could not be found in this version of the API.")


class ApiCall(ApiRequest, Generic[S], frozen=True):
    """A request to one service, with everything that its handler needs.

    Each service has a subclass. It states the path of the API below the prefix, and how objects are
    found that paths name: a handler gets the object that its path names as a second argument.
    """

    service: S
    base: ClassVar[str]  # path of the API below the prefix of the service
    versions: ClassVar[Microversions | None] = None  # None: the API has no microversions
    subjects: ClassVar[Mapping[str, Callable[..., dict[str, Any]]]] = {}  # by part of the path

    @property
    def state(self) -> Any:
        """The documents of the service."""
        raise NotImplementedError

    @property
    def project_path(self) -> str:
        """The part of links between the version and the path of an object."""
        return ""

    @staticmethod
    def refusal(needed: Access) -> ApiError:
        """Return the error for a caller who lacks a role."""
        return lacks_role(needed)

    async def subject(self, name: str) -> dict[str, Any]:
        """Return the object that a part of the path names; raises NotFoundError."""
        return self.subjects[name](self.state, self.context, self.argument(name))

    def link(self, path: str) -> str:
        """Return the URL of a path of this API."""
        return f"{self.service.url}{self.base}{self.project_path}{path}"

    def links(self, path: str) -> list[dict[str, str]]:
        """Return the two links that views of an object have."""
        bookmark = f"{self.service.url}{self.project_path}{path}"
        return [{"rel": "self", "href": self.link(path)}, {"rel": "bookmark", "href": bookmark}]

    def next_link(self, path: str, last: str) -> list[dict[str, str]]:
        """Return the link to the page of a list after the object with this marker."""
        url = self.request.url.include_query_params(marker=last)
        return [{"rel": "next", "href": f"{self.link(path)}?{url.query}"}]

    def action(self, message: str = "Malformed request body") -> tuple[str, Any]:
        """Return the only key of the body and its value; raises BadRequestError."""
        body = self.body()
        if len(body) != 1:
            raise BadRequestError(message)
        return next(iter(body.items()))


def routes_of(
    call_type: type[ApiCall[S]], endpoints: Iterable[Endpoint], service: S
) -> list[Route]:
    """Return the routes of the endpoints of a service."""
    return [_route_of(call_type, endpoint, service) for endpoint in endpoints]


def _route_of(call_type: type[ApiCall[S]], endpoint: Endpoint, service: S) -> Route:
    subject = next((key for key in call_type.subjects if f"{{{key}}}" in endpoint.path), None)
    versions = call_type.versions

    async def answer(request: Request, *version: Microversion) -> Response:
        caller = context(request)
        endpoint.permit(caller, call_type.refusal)
        # The body is read before the subject is looked up. A client that sends its body slowly
        # must not be answered from the state of an earlier moment.
        call = call_type(request, caller, await read_body(request), service, *version)
        found = () if subject is None else (await call.subject(subject),)
        return respond(await endpoint.handler(call, *found), endpoint.status)

    async def answer_in_version(request: Request) -> Response:
        assert versions is not None
        version = versions.negotiate(request.headers)
        try:
            endpoint.offer(version)
            response = await answer(request, version)
        except ApiError as error:
            error.headers.update(version.headers())
            raise
        response.headers.update(version.headers())
        return response

    handle = answer if versions is None else answer_in_version
    return Route(f"{call_type.base}{endpoint.path}", handle, methods=[endpoint.method])
