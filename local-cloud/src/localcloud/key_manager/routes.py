"""The key manager as the application mounts it."""

import importlib

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.key_manager.errors import barbican_error
from localcloud.key_manager.state import PREFIX, State
from localcloud.web.http import public_paths, route
from localcloud.web.microversions import KEY_MANAGER
from localcloud.web.permissions import by_owner


def service(cloud: Cloud) -> Service:
    """Return the key manager's API, version 1.

    Nothing begins with the cloud: an order that a restart has interrupted goes on with the first
    request, before which nobody can see that it waits.
    """
    work = Work()
    links = [
        {"rel": "self", "href": f"{cloud.settings.url}{PREFIX}/v1/"},
        {"rel": "describedby", "type": "text/html", "href": "https://docs.openstack.org/"},
    ]
    media = {"base": "application/json", "type": "application/vnd.openstack.key-manager-v1+json"}
    plain: Document = {"id": "v1", "status": "stable", "links": links, "media-types": [media]}
    minors = {"min_version": KEY_MANAGER.first, "max_version": KEY_MANAGER.latest}
    version: Document = {"id": "v1", "status": "CURRENT", **minors, "links": links}

    async def versions(request: Request) -> Response:
        if KEY_MANAGER.negotiate(request.headers).since(1):
            return JSONResponse({"versions": [version]}, 300)
        return JSONResponse({"versions": {"values": [plain]}}, 300)

    async def one(request: Request) -> Document:
        return {"version": version if KEY_MANAGER.negotiate(request.headers).since(1) else plain}

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.key_manager.endpoints")
        return [
            route("GET", "/", versions),
            route("GET", "/v1", one),
            *endpoints.routes(State(cloud), work),
        ]

    return Service(
        type="key-manager",
        name="barbican",
        prefix=PREFIX,
        endpoint=PREFIX,
        render=barbican_error,
        public=public_paths("/", "/v1"),
        versions=(version,),
        routes=routes,
        permit=by_owner,
        stop=work.stop,
    )
