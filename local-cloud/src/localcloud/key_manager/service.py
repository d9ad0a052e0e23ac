"""The key manager API, version 1, as the application mounts it."""

from functools import cached_property

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.cloud import LazyService
from localcloud.core.store import Document
from localcloud.key_manager.errors import barbican_error
from localcloud.key_manager.model.state import PREFIX
from localcloud.web.http import route
from localcloud.web.microversions import KEY_MANAGER
from localcloud.web.permissions import by_owner


class KeyManagerService(LazyService):
    """Barbican.

    The service loads with the first request, also when a restart has interrupted an order: no
    client can see that the order waits before it sends a request.
    """

    type = "key-manager"
    name = "barbican"
    prefix = endpoint = PREFIX
    open_paths = ("/", "/v1")
    api_module = "localcloud.key_manager.api.endpoints"
    instance_module = "localcloud.key_manager.instance"
    render = staticmethod(barbican_error)
    permit = staticmethod(by_owner)

    @cached_property
    def _links(self) -> list[Document]:
        return [
            {"rel": "self", "href": f"{self.url}/v1/"},
            {"rel": "describedby", "type": "text/html", "href": "https://docs.openstack.org/"},
        ]

    @cached_property
    def version(self) -> Document:
        minors = {"min_version": KEY_MANAGER.first, "max_version": KEY_MANAGER.latest}
        return {"id": "v1", "status": "CURRENT", **minors, "links": self._links}

    def version_routes(self) -> list[BaseRoute]:
        # Without a microversion Barbican answers in the format that it had before them.
        media = {
            "base": "application/json",
            "type": "application/vnd.openstack.key-manager-v1+json",
        }
        plain = {"id": "v1", "status": "stable", "links": self._links, "media-types": [media]}
        version = self.version

        async def list_versions(request: Request) -> Response:
            if KEY_MANAGER.negotiate(request.headers).since(1):
                return JSONResponse({"versions": [version]}, 300)
            return JSONResponse({"versions": {"values": [plain]}}, 300)

        async def show_version(request: Request) -> Document:
            has_minors = KEY_MANAGER.negotiate(request.headers).since(1)
            return {"version": version if has_minors else plain}

        return [route("GET", "/", list_versions), route("GET", "/v1", show_version)]
