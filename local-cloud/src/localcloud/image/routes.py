"""The image API, as the application mounts it."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.cloud import Cloud, Service
from localcloud.http import Forbidden, NotFound, context, fixed, glance_error, public_paths, route
from localcloud.image.data import ImageData
from localcloud.image.images import COUNT_LIMIT, SIZE_LIMIT, Images
from localcloud.image.members import ImageMembers
from localcloud.image.presentation import STORE
from localcloud.image.records import IMPORT_METHODS, ImageRecords
from localcloud.image.schemas import SCHEMAS
from localcloud.store import Document

_VERSIONS = tuple(f"v2.{minor}" for minor in (17, 16, 15, 9, 7, 6, 5, 4, 3, 2, 1, 0))
_IMPORT_METHODS = {
    "description": "Import methods available.",
    "type": "array",
    "value": list(IMPORT_METHODS),
}


def service(cloud: Cloud) -> Service:
    """Return image API version 2."""
    images, url = cloud.one(Images), f"{cloud.settings.url}/image"
    versions = [_version(url, name) for name in _VERSIONS]

    async def start() -> None:
        images.start()

    return Service(
        type="image",
        name="glance",
        prefix="/image",
        endpoint="/image",
        render=glance_error,
        public=public_paths("/", "/versions"),
        versions=versions[:1],
        routes=[
            route("GET", "/", fixed({"versions": versions}), 300),
            route("GET", "/versions", fixed({"versions": versions}), 300),
            *ImageRecords(images, url).routes(),
            *ImageData(images).routes(),
            *ImageMembers(cloud, images).routes(),
            *_Facts(images).routes(),
        ],
        start=start,
    )


def _version(url: str, name: str) -> Document:
    status = "CURRENT" if name == _VERSIONS[0] else "SUPPORTED"
    return {"id": name, "status": status, "links": [{"rel": "self", "href": f"{url}/v2/"}]}


class _Facts:
    """What clients ask of the service itself."""

    def __init__(self, images: Images) -> None:
        self._images = images

    def routes(self) -> list[BaseRoute]:
        stores = {"stores": [{"id": STORE, "default": "true"}]}
        return [
            route("GET", "/v2/images/{id}/tasks", self._tasks),
            route("GET", "/v2/schemas/{name}", self._schema),
            route("GET", "/v2/info/import", fixed({"import-methods": _IMPORT_METHODS})),
            route("GET", "/v2/info/stores", fixed(stores)),
            route("GET", "/v2/info/stores/detail", self._store_details),
            route("GET", "/v2/info/usage", self._usage),
        ]

    async def _schema(self, request: Request) -> Document:
        name = request.path_params["name"]
        if name not in SCHEMAS:
            raise NotFound(f"There is no schema '{name}'.")
        return SCHEMAS[name]

    async def _tasks(self, request: Request) -> Document:
        self._images.visible(context(request), request.path_params["id"])
        return {"tasks": []}

    async def _store_details(self, request: Request) -> Document:
        if not context(request).is_admin:
            raise Forbidden("Only an administrator may see the details of stores.")
        return {"stores": [{"id": STORE, "type": "file", "default": "true", "properties": {}}]}

    async def _usage(self, request: Request) -> Document:
        count, size = self._images.usage(context(request).project_id)
        most = COUNT_LIMIT * (SIZE_LIMIT >> 20)
        usage = {
            "image_count_total": {"limit": COUNT_LIMIT, "usage": count},
            "image_size_total": {"limit": most, "usage": size >> 20},
            "image_count_uploading": {"limit": COUNT_LIMIT, "usage": 0},
            "image_stage_total": {"limit": most, "usage": 0},
        }
        return {"usage": usage}
