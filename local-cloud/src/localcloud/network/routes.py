"""The network API over HTTP: paths and methods, nothing else."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.cloud import Cloud, ServiceDescriptor
from localcloud.http import context, neutron_error, public_paths, read_json, route
from localcloud.network import extensions
from localcloud.network.actions import ActionRoutes
from localcloud.network.administration import Administration
from localcloud.network.crud import Crud
from localcloud.network.kinds import OPERATIONS
from localcloud.network.service import NetworkService
from localcloud.network.tags import tag_routes
from localcloud.store import Document

PREFIX = "/network"
_BODY_LIMIT = 8 << 20


def service(cloud: Cloud) -> "NetworkApi":
    """Return the network service as the application mounts it."""
    return NetworkApi(cloud)


class NetworkApi:
    """The network service as the application mounts it."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._service = cloud.one(NetworkService)
        self._url = cloud.settings.url + PREFIX

    @property
    def descriptor(self) -> ServiceDescriptor:
        """What it is and where it lives."""
        return ServiceDescriptor(
            type="network",
            name="neutron",
            prefix=PREFIX,
            endpoint=PREFIX,
            render=neutron_error,
            public=public_paths("/", "/v2.0"),
            versions=(self._version(),),
        )

    async def start(self) -> None:
        """Declare everything to the fabric."""
        await self._service.start()

    async def stop(self) -> None:
        """End what runs in the background."""
        await self._service.stop()

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes below the prefix."""
        routes = [
            route("GET", "/", self._versions),
            route("GET", "/v2.0", self._resources),
            route("GET", "/v2.0/extensions", self._extensions),
            route("GET", "/v2.0/extensions/{alias}", self._extension),
            *Administration(self._cloud, self._service).routes(),
            *ActionRoutes(self._service).routes(),
        ]
        for operations in OPERATIONS.values():
            crud = Crud(self._service.state, operations)
            routes += _Collection(self._service, crud, self._url).routes()
            if "tags" in operations.resource.attributes:
                routes += tag_routes(self._service.state, operations.resource)
        return routes

    def _version(self) -> Document:
        links = [{"rel": "self", "href": f"{self._url}/v2.0/"}]
        return {"id": "v2.0", "status": "CURRENT", "links": links}

    async def _versions(self, request: Request) -> Document:
        return {"versions": [self._version()]}

    async def _resources(self, request: Request) -> Document:
        resources = [
            {
                "name": operations.resource.kind,
                "collection": operations.resource.collection,
                "links": [{"rel": "self", "href": f"{self._url}/v2.0{operations.resource.path}"}],
            }
            for operations in OPERATIONS.values()
        ]
        return {"resources": resources}

    async def _extensions(self, request: Request) -> Document:
        return {"extensions": extensions.every()}

    async def _extension(self, request: Request) -> Document:
        return {"extension": extensions.one(request.path_params["alias"])}


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
