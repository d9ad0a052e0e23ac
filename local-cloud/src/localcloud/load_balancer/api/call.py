"""One request to the load balancing API, and how a handler becomes a route."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.core.store import Document
from localcloud.core.tags import FILTERS
from localcloud.load_balancer.errors import forbidden
from localcloud.load_balancer.kinds import Kind
from localcloud.load_balancer.service import LoadBalancing
from localcloud.load_balancer.state import State
from localcloud.web.api_request import ApiRequest
from localcloud.web.http import (
    Answer,
    BadRequestError,
    PageQuery,
    RequestContext,
    boolean,
    context,
    fields,
    page,
    read_body,
    respond,
)
from localcloud.web.permissions import Access, lacking

_CONTROL = frozenset({"fields", "limit", "marker", "sort", "sort_key", "sort_dir", "page_reverse"})


class Call(ApiRequest, frozen=True):
    """A request with everything that its handler needs."""

    service: LoadBalancing

    @property
    def state(self) -> State:
        """The documents of the service."""
        return self.service.state

    def wrapped(self, name: str) -> Any:
        """Return what the body wraps under this name; raises BadRequestError where it is
        missing.
        """
        found = self.body()
        if name not in found:
            raise BadRequestError(
                f"Invalid input for field/attribute {name}. Value: 'None'. Mandatory field missing."
            )
        return found[name]

    def one(self, name: str, document: Document) -> Document:
        """Answer an object, or the fields of it that the query names."""
        return {name: fields(document, self._names())}

    def _names(self) -> list[str]:
        asked = self.request.query_params.getlist("fields")
        return [name for text in asked for name in text.split(",") if name]

    def listed(self, kind: Kind, shown: Iterable[Document]) -> Document:
        """Answer those objects for which the query asks, one page of them."""
        query = self.request.query_params
        wanted = [(key, value) for key, value in query.multi_items() if key not in _CONTROL]
        found = [each for each in shown if all(_passes(each, *pair) for pair in wanted)]
        asked = PageQuery.parse(query)
        chosen = page(found, asked)
        names = self._names()
        answer: Document = {kind.plural: [fields(each, names) for each in chosen.items]}
        links = []
        if chosen.more and chosen.items:
            last = chosen.items[-1].get("id") or chosen.items[-1]["name"]
            url = self.request.url.include_query_params(marker=last)
            path = f"{self.state.cloud.settings.url}/load-balancer{self.request.url.path}"
            links.append({"rel": "next", "href": f"{path}?{url.query}"})
        answer[f"{kind.plural}_links"] = links
        return answer


def _passes(shown: Document, name: str, wanted: str) -> bool:
    if name in FILTERS:
        asked = {tag for tag in wanted.split(",") if tag}
        return FILTERS[name](set(shown.get("tags") or ()), asked)
    if name in ("tenant_id", "project_id"):
        return bool(shown.get("project_id") == wanted)
    if name.endswith("_id") and f"{name[:-3]}s" in shown:
        return wanted in [each["id"] for each in shown[f"{name[:-3]}s"]]
    if name not in shown:
        raise BadRequestError("One or more arguments are either duplicate or invalid")
    value = shown[name]
    if isinstance(value, bool):
        return value == boolean(wanted)
    return ("" if value is None else str(value)) == wanted


class Endpoint(Struct, frozen=True):
    """A handler and where it is found."""

    method: str
    path: str
    handler: Callable[..., Awaitable[Answer]]
    access: Access | None = None
    """None: readers may read, members may write."""
    status: int | None = None
    """Of its answers, where that is not 200, or 204 for an empty one."""

    def permit(self, caller: RequestContext) -> None:
        """Raise the API's 403 where the caller may not use it."""
        if lacking(caller, self.method, self.access):
            raise forbidden()


def endpoint_route(endpoint: Endpoint, service: LoadBalancing) -> Route:
    """Return the route of an endpoint."""

    async def handle(request: Request) -> Response:
        caller = context(request)
        endpoint.permit(caller)
        call = Call(request, caller, await read_body(request), service)
        return respond(await endpoint.handler(call), endpoint.status)

    return Route(f"/v2{endpoint.path}", handle, methods=[endpoint.method])
