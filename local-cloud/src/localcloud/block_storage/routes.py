"""The block storage service as the application mounts it."""

import importlib
import re

from starlette.routing import BaseRoute

from localcloud.block_storage.service import BlockStorage
from localcloud.core.cloud import Cloud, Service
from localcloud.web.http import fixed, nova_error, public_paths, route, without_trailing_slash
from localcloud.web.microversions import BLOCK_STORAGE

PREFIX = "/volume"
_PROJECT = re.compile(r"/v3/[0-9a-f]{32}(?=/|$)")
_MEDIA = {"base": "application/json", "type": "application/vnd.openstack.volume+json;version=3"}


def service(cloud: Cloud) -> Service:
    """Return the block storage service as the application mounts it."""
    storage = cloud.one(BlockStorage)
    version = {
        "id": "v3.0",
        "status": "CURRENT",
        "version": BLOCK_STORAGE.latest,
        "min_version": BLOCK_STORAGE.first,
        "updated": "2023-08-31T00:00:00Z",
        "links": [{"rel": "self", "href": f"{cloud.settings.url}{PREFIX}/v3/"}],
        "media-types": [_MEDIA],
    }

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.block_storage.api.endpoints")
        return [
            route("GET", "/", fixed({"versions": [version]}), 300),
            route("GET", "/v3", fixed({"versions": [version]})),
            *endpoints.routes(storage),
        ]

    return Service(
        type="block-storage",
        name="cinder",
        prefix=PREFIX,
        endpoint=f"{PREFIX}/v3/%(project_id)s",
        other_types=("volumev3",),
        render=nova_error,
        public=public_paths("/", "/v3"),
        versions=(version,),
        routes=routes,
        normalize=normalize,
        start=storage.start,
        stop=storage.stop,
    )


def normalize(path: str) -> str:
    """Return the path as routes are written; a project id after the version is left out."""
    return _PROJECT.sub("/v3", without_trailing_slash(path)) or "/"
