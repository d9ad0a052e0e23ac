"""The network API over HTTP: paths and methods, nothing else."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.network.api.actions import ActionRoutes
from localcloud.network.api.administration import Administration
from localcloud.network.api.crud import Crud
from localcloud.network.api.extensions import EXTENSIONS
from localcloud.network.api.tags import tag_routes
from localcloud.network.errors import not_found
from localcloud.network.objects.kinds import OPERATIONS
from localcloud.network.service import NetworkService
from localcloud.web.http import context, fixed, read_json, route

_BODY_LIMIT = 8 << 20


def routes(network: NetworkService) -> list[BaseRoute]:
    """Return the routes of all requests."""
    url = network.url
    return [
        route("GET", "/v2.0", fixed({"resources": _resources(url)})),
        route("GET", "/v2.0/extensions", fixed({"extensions": list(EXTENSIONS.values())})),
        route("GET", "/v2.0/extensions/{alias}", _extension),
        *Administration(network).routes(),
        *ActionRoutes(network).routes(),
        *_object_routes(network, url),
    ]


def _resources(url: str) -> list[Document]:
    return [
        {
            "name": one.resource.kind,
            "collection": one.resource.collection,
            "links": [{"rel": "self", "href": f"{url}/v2.0{one.resource.path}"}],
        }
        for one in OPERATIONS.values()
    ]


async def _extension(request: Request) -> Document:
    alias = request.path_params["alias"]
    if alias not in EXTENSIONS:
        raise not_found("extension", alias)
    return {"extension": EXTENSIONS[alias]}


def _object_routes(network: NetworkService, url: str) -> list[BaseRoute]:
    routes = []
    for operations in OPERATIONS.values():
        crud = Crud(network.state, operations)
        routes += _Collection(network, crud, url).routes()
        if "tags" in operations.resource.attributes:
            routes += tag_routes(network.state, operations.resource)
    return routes


class _Collection:
    """The requests on the objects of one kind; a change is answered when the fabric knows it."""

    def __init__(self, service: NetworkService, crud: Crud, url: str) -> None:
        self._flush = service.declarer.flush
        self._crud = crud
        self._path = f"/v2.0{crud.resource.path}"
        self._url = url + self._path

    def routes(self) -> list[BaseRoute]:
        one = f"{self._path}/{{id}}"
        return [
            route("POST", self._path, self._create, 201),
            route("GET", self._path, self._list),
            route("GET", one, self._show),
            route("PUT", one, self._update),
            route("DELETE", one, self._delete),
        ]

    async def _create(self, request: Request) -> Document:
        body = await read_json(request, _BODY_LIMIT)
        answer = self._crud.create(context(request), body)
        await self._flush()
        return answer

    async def _list(self, request: Request) -> Document:
        return self._crud.listed(context(request), request.query_params, self._url)

    async def _show(self, request: Request) -> Document:
        return self._crud.show(context(request), request.path_params["id"], request.query_params)

    async def _update(self, request: Request) -> Document:
        body, if_match = await read_json(request), request.headers.get("if-match")
        answer = self._crud.update(context(request), request.path_params["id"], body, if_match)
        await self._flush()
        return answer

    async def _delete(self, request: Request) -> None:
        if_match = request.headers.get("if-match")
        self._crud.delete(context(request), request.path_params["id"], if_match)
        await self._flush()
