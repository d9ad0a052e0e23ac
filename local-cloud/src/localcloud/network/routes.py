"""The network API over HTTP: paths and methods, nothing else."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.cloud import Cloud, ServiceDescriptor
from localcloud.http import context, neutron_error, public_paths, read_json
from localcloud.network import crud, extensions, tags
from localcloud.network.actions import ActionRoutes
from localcloud.network.administration_routes import AdministrationRoutes
from localcloud.network.kinds import OPERATIONS
from localcloud.network.operations import Operations
from localcloud.network.service import NetworkService
from localcloud.network.visibility import find

Handler = Callable[[Request], Awaitable[Response]]
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
            Route("/", self._versions),
            Route("/v2.0", self._resources),
            Route("/v2.0/extensions", self._extensions),
            Route("/v2.0/extensions/{alias}", self._extension),
            *AdministrationRoutes(self._cloud, self._service).routes(),
            *ActionRoutes(self._service).routes(),
        ]
        for operations in OPERATIONS.values():
            routes += _collection_routes(self._service, operations, self._url)
            if "tags" in operations.resource.attributes:
                routes += _tag_routes(self._service, operations)
        return routes

    def _version(self) -> dict[str, Any]:
        links = [{"rel": "self", "href": f"{self._url}/v2.0/"}]
        return {"id": "v2.0", "status": "CURRENT", "links": links}

    async def _versions(self, request: Request) -> Response:
        return JSONResponse({"versions": [self._version()]})

    async def _resources(self, request: Request) -> Response:
        resources = [
            {
                "name": operations.resource.kind,
                "collection": operations.resource.collection,
                "links": [{"rel": "self", "href": f"{self._url}/v2.0{operations.resource.path}"}],
            }
            for operations in OPERATIONS.values()
        ]
        return JSONResponse({"resources": resources})

    async def _extensions(self, request: Request) -> Response:
        return JSONResponse({"extensions": extensions.every()})

    async def _extension(self, request: Request) -> Response:
        return JSONResponse({"extension": extensions.one(request.path_params["alias"])})


def _collection_routes(
    service: NetworkService, operations: Operations, url: str
) -> list[BaseRoute]:
    """Return the routes of one kind: create, list, show, update and delete."""
    state, path = service.state, f"/v2.0{operations.resource.path}"

    async def create(request: Request) -> Response:
        body = await read_json(request, _BODY_LIMIT)
        answer = crud.create(state, context(request), operations, body)
        await service.declarer.flush()
        return JSONResponse(answer, 201)

    async def listed(request: Request) -> Response:
        query = request.query_params
        return JSONResponse(crud.listed(state, context(request), operations, query, url + path))

    async def show(request: Request) -> Response:
        object_id = request.path_params["id"]
        return JSONResponse(
            crud.show(state, context(request), operations, object_id, request.query_params)
        )

    async def update(request: Request) -> Response:
        body = await read_json(request)
        object_id, if_match = request.path_params["id"], request.headers.get("if-match")
        answer = crud.update(state, context(request), operations, object_id, body, if_match)
        await service.declarer.flush()
        return JSONResponse(answer)

    async def delete(request: Request) -> Response:
        object_id, if_match = request.path_params["id"], request.headers.get("if-match")
        crud.delete(state, context(request), operations, object_id, if_match)
        await service.declarer.flush()
        return Response(status_code=204)

    return [
        Route(path, create, methods=["POST"]),
        Route(path, listed, methods=["GET"]),
        Route(f"{path}/{{id}}", show, methods=["GET"]),
        Route(f"{path}/{{id}}", update, methods=["PUT"]),
        Route(f"{path}/{{id}}", delete, methods=["DELETE"]),
    ]


def _tag_routes(service: NetworkService, operations: Operations) -> list[BaseRoute]:
    """Return the routes of the tags of one kind."""
    state, kind = service.state, operations.resource.kind
    path = f"/v2.0{operations.resource.path}/{{id}}/tags"

    async def listed(request: Request) -> Response:
        document = find(state, context(request), kind, request.path_params["id"])
        return JSONResponse({"tags": document["tags"]})

    async def replace(request: Request) -> Response:
        body, object_id = await read_json(request), request.path_params["id"]
        return JSONResponse({"tags": tags.replace(state, context(request), kind, object_id, body)})

    async def extend(request: Request) -> Response:
        body, object_id = await read_json(request), request.path_params["id"]
        found = tags.extend(state, context(request), kind, object_id, body)
        return JSONResponse({"tags": found}, 201)

    async def clear(request: Request) -> Response:
        tags.clear(state, context(request), kind, request.path_params["id"])
        return Response(status_code=204)

    async def has(request: Request) -> Response:
        document = find(state, context(request), kind, request.path_params["id"])
        tags.require(document, request.path_params["tag"])
        return Response(status_code=204)

    async def add(request: Request) -> Response:
        tags.add(
            state, context(request), kind, request.path_params["id"], request.path_params["tag"]
        )
        return Response(status_code=201)

    async def remove(request: Request) -> Response:
        object_id, tag = request.path_params["id"], request.path_params["tag"]
        tags.remove(state, context(request), kind, object_id, tag)
        return Response(status_code=204)

    return [
        Route(path, listed, methods=["GET"]),
        Route(path, replace, methods=["PUT"]),
        Route(path, extend, methods=["POST"]),
        Route(path, clear, methods=["DELETE"]),
        Route(f"{path}/{{tag:path}}", has, methods=["GET"]),
        Route(f"{path}/{{tag:path}}", add, methods=["PUT"]),
        Route(f"{path}/{{tag:path}}", remove, methods=["DELETE"]),
    ]
