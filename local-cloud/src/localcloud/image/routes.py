"""The image API, as the application mounts it."""

import importlib
from typing import Any

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.core.store import Document
from localcloud.image.images import Images
from localcloud.image.presentation import UNFINISHED
from localcloud.web.http import fixed, glance_error, public_paths, route

_VERSIONS = tuple(f"v2.{minor}" for minor in (17, 16, 15, 9, 7, 6, 5, 4, 3, 2, 1, 0))


def service(cloud: Cloud) -> Service:
    """Return image API version 2."""
    images, url = cloud.one(Images), f"{cloud.settings.url}/image"
    versions = [_version(url, name) for name in _VERSIONS]

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.image.endpoints")
        return [
            route("GET", "/", fixed({"versions": versions}), 300),
            route("GET", "/versions", fixed({"versions": versions}), 300),
            *endpoints.routes(cloud, images, url),
        ]

    def imports() -> Any:
        module: Any = importlib.import_module("localcloud.image.imports")
        return cloud.one(module.Imports)

    async def start() -> None:
        images.start()
        if any(task["status"] in UNFINISHED for task in images.tasks.values()):
            imports().resume()

    async def stop() -> None:
        if len(images.tasks):
            await imports().work.stop()

    return Service(
        type="image",
        name="glance",
        prefix="/image",
        endpoint="/image",
        render=glance_error,
        public=public_paths("/", "/versions"),
        versions=versions[:1],
        routes=routes,
        start=start,
        stop=stop,
    )


def _version(url: str, name: str) -> Document:
    status = "CURRENT" if name == _VERSIONS[0] else "SUPPORTED"
    return {"id": name, "status": status, "links": [{"rel": "self", "href": f"{url}/v2/"}]}
