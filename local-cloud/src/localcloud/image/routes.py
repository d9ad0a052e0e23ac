"""The image API, as the application mounts it."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.cloud import Cloud, ServiceDescriptor
from localcloud.http import Forbidden, NotFound, context, glance_error, public_paths, route
from localcloud.image.data import ImageData
from localcloud.image.images import COUNT_LIMIT, SIZE_LIMIT, Images
from localcloud.image.members import ImageMembers
from localcloud.image.presentation import STORE
from localcloud.image.records import IMPORT_METHODS, ImageRecords
from localcloud.image.schemas import SCHEMAS

_VERSIONS = tuple(f"v2.{minor}" for minor in (17, 16, 15, 9, 7, 6, 5, 4, 3, 2, 1, 0))


def service(cloud: Cloud) -> "ImageService":
    """Return the image service of the cloud."""
    return ImageService(cloud)


class ImageService:
    """Image API version 2."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._images = cloud.one(Images)
        self._url = f"{cloud.settings.url}/image"
        self._versions = [self._version(name) for name in _VERSIONS]
        self.descriptor = ServiceDescriptor(
            type="image",
            name="glance",
            prefix="/image",
            endpoint="/image",
            render=glance_error,
            public=public_paths("/", "/versions"),
            versions=self._versions[:1],
        )

    def routes(self) -> Sequence[BaseRoute]:
        """Return all routes."""
        return [
            route("GET", "/", self._list_versions, 300),
            route("GET", "/versions", self._list_versions, 300),
            *ImageRecords(self._images, self._url).routes(),
            *ImageData(self._images).routes(),
            *ImageMembers(self._cloud, self._images).routes(),
            route("GET", "/v2/images/{id}/tasks", self._tasks),
            route("GET", "/v2/schemas/{name}", self._schema),
            route("GET", "/v2/info/import", self._import_info),
            route("GET", "/v2/info/stores", self._stores),
            route("GET", "/v2/info/stores/detail", self._store_details),
            route("GET", "/v2/info/usage", self._usage),
        ]

    async def start(self) -> None:
        """Make the built-in image and tidy up after the last process."""
        self._images.start()

    async def stop(self) -> None:
        """Nothing runs."""

    def _version(self, name: str) -> dict[str, Any]:
        status = "CURRENT" if name == _VERSIONS[0] else "SUPPORTED"
        links = [{"rel": "self", "href": f"{self._url}/v2/"}]
        return {"id": name, "status": status, "links": links}

    async def _list_versions(self, request: Request) -> dict[str, Any]:
        return {"versions": self._versions}

    async def _schema(self, request: Request) -> dict[str, Any]:
        name = request.path_params["name"]
        if name not in SCHEMAS:
            raise NotFound(f"There is no schema '{name}'.")
        return SCHEMAS[name]

    async def _tasks(self, request: Request) -> dict[str, Any]:
        self._images.visible(context(request), request.path_params["id"])
        return {"tasks": []}

    async def _import_info(self, request: Request) -> dict[str, Any]:
        methods = {
            "description": "Import methods available.",
            "type": "array",
            "value": list(IMPORT_METHODS),
        }
        return {"import-methods": methods}

    async def _stores(self, request: Request) -> dict[str, Any]:
        return {"stores": [{"id": STORE, "default": "true"}]}

    async def _store_details(self, request: Request) -> dict[str, Any]:
        if not context(request).is_admin:
            raise Forbidden("Only an administrator may see the details of stores.")
        store = {"id": STORE, "type": "file", "default": "true", "properties": {}}
        return {"stores": [store]}

    async def _usage(self, request: Request) -> dict[str, Any]:
        count, size = self._images.usage(context(request).project_id)
        mebibytes = size >> 20
        usage = {
            "image_count_total": {"limit": COUNT_LIMIT, "usage": count},
            "image_size_total": {"limit": COUNT_LIMIT * (SIZE_LIMIT >> 20), "usage": mebibytes},
            "image_count_uploading": {"limit": COUNT_LIMIT, "usage": 0},
            "image_stage_total": {"limit": COUNT_LIMIT * (SIZE_LIMIT >> 20), "usage": 0},
        }
        return {"usage": usage}
