"""Shared file systems as the application mounts them."""

import importlib
import re
from typing import Any

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.fabric.exports import MountRequest
from localcloud.web.http import fixed, nova_error, public_paths, route, without_trailing_slash
from localcloud.web.microversions import SHARED_FILE_SYSTEM

PREFIX = "/share"
_PROJECT = re.compile(r"/v2/[0-9a-f]{32}(?=/|$)")
_MEDIA = {"base": "application/json", "type": "application/vnd.openstack.share+json;version=1"}


def service(cloud: Cloud) -> Service:
    """Return the API of shared file systems, which loads when a client or a server asks for it."""
    begun = list[Any]()
    version = {
        "id": "v2.0",
        "status": "CURRENT",
        "version": SHARED_FILE_SYSTEM.latest,
        "min_version": SHARED_FILE_SYSTEM.first,
        "updated": "2015-08-27T11:33:21Z",
        "links": [{"rel": "self", "href": f"{cloud.settings.url}{PREFIX}/v2/"}],
        "media-types": [_MEDIA],
    }
    versions = {"versions": [version]}

    def loaded() -> Any:
        if not begun:
            module: Any = importlib.import_module("localcloud.shared_file_system.service")
            begun.append(cloud.one(module.SharedFileSystems))
            begun[0].resume()
        return begun[0]

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.shared_file_system.api.endpoints")
        return [
            route("GET", "/", fixed(versions), 300),
            route("GET", "/v2", fixed(versions)),
            *endpoints.routes(loaded()),
        ]

    async def mount(request: MountRequest) -> None:
        await loaded().exports.mount(request)

    async def start() -> None:
        cloud.fabric.exports.mount = mount

    async def stop() -> None:
        if begun:
            await begun[0].stop()

    return Service(
        type="shared-file-system",
        name="manila",
        prefix=PREFIX,
        endpoint=f"{PREFIX}/v2",
        other_types=("sharev2",),
        render=nova_error,
        public=public_paths("/", "/v2"),
        versions=(version,),
        routes=routes,
        normalize=lambda path: _PROJECT.sub("/v2", without_trailing_slash(path)) or "/",
        start=start,
        stop=stop,
    )
