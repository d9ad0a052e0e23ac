"""The object storage service as the application mounts it."""

import asyncio
import importlib

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.object_store.data import DataFiles
from localcloud.object_store.errors import swift_error
from localcloud.object_store.expiry import Expiry
from localcloud.object_store.records import Records

_CONTAINER_SLASHES = 3


def service(cloud: Cloud) -> Service:
    """Return the object storage API version 1."""
    records = cloud.one(Records)
    files = DataFiles(cloud.settings.cloud_dir / "objects", cloud.settings.object_bytes)
    expiry = Expiry(cloud, records, files)

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.object_store.endpoints")
        found: list[BaseRoute] = endpoints.routes(cloud, records, files)
        return found

    async def start() -> None:
        named = {item["data"] for item in records.objects.values()}
        await asyncio.to_thread(files.start, named)
        expiry.start()

    async def stop() -> None:
        expiry.stop()

    return Service(
        type="object-store",
        name="swift",
        prefix="/v1",
        endpoint="/v1/AUTH_%(project_id)s",
        render=swift_error,
        public=lambda method, path: True,
        versions=(),
        routes=routes,
        root_paths=("/info",),
        normalize=without_slash_of_containers,
        start=start,
        stop=stop,
    )


def without_slash_of_containers(path: str) -> str:
    """Return the path as routes are written; names of objects may end with slashes."""
    if path.count("/") <= _CONTAINER_SLASHES:
        return path.rstrip("/") or "/"
    return path
