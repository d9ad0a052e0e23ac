"""The object storage API, version 1, as the application mounts it.

The record of an object names the file with its content. A file is written completely before the
record that names it, and a start removes files that no record names: a request that is
interrupted leaves the object as it was.
"""

import asyncio

from localcloud.core.cloud import Cloud, LazyService
from localcloud.object_store.errors import swift_error
from localcloud.object_store.jobs import Expiry
from localcloud.object_store.model.data import DataFiles
from localcloud.object_store.model.records import Records

_CONTAINER_SLASHES = 3


class ObjectStoreService(LazyService):
    """Swift. It checks tokens itself: containers may be public, and URLs may be signed."""

    type = "object-store"
    name = "swift"
    prefix = "/v1"
    endpoint = "/v1/AUTH_%(project_id)s"
    root_paths = ("/info",)
    api_module = "localcloud.object_store.api.endpoints"
    render = staticmethod(swift_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.records = cloud.one(Records)
        self.files = DataFiles(cloud.settings.cloud_dir / "objects", cloud.settings.object_bytes)
        self._expiry = Expiry(cloud, self.records, self.files)

    def is_public(self, method: str, path: str) -> bool:
        return True

    def normalize(self, path: str) -> str:
        # Names of objects may end with slashes, names of accounts and containers may not.
        if path.count("/") <= _CONTAINER_SLASHES:
            return path.rstrip("/") or "/"
        return path

    async def start(self) -> None:
        named = {item["data"] for item in self.records.objects.values()}
        await asyncio.to_thread(self.files.start, named)
        self._expiry.start()

    async def stop(self) -> None:
        self._expiry.stop()
