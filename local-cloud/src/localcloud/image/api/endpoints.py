"""All requests of the image API, gathered."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.image.api.data import ImageData
from localcloud.image.api.imports import ImportRequests
from localcloud.image.api.members import ImageMembers
from localcloud.image.api.records import ImageRecords
from localcloud.image.api.schemas import SCHEMAS
from localcloud.image.api.tasks import TaskRequests
from localcloud.image.jobs import IMPORT_METHODS, Imports
from localcloud.image.model.images import COUNT_LIMIT, SIZE_LIMIT, Images
from localcloud.image.model.presentation import STORE
from localcloud.web.http import ForbiddenError, NotFoundError, context, fixed, route

_IMPORT_METHODS = {
    "description": "Import methods available.",
    "type": "array",
    "value": list(IMPORT_METHODS),
}


def routes(imports: Imports) -> list[BaseRoute]:
    """Return the routes of all requests."""
    cloud, images = imports.cloud, imports.images
    return [
        *ImageRecords(images, f"{cloud.settings.url}/image").routes(),
        *ImageData(images).routes(),
        *ImportRequests(imports, images).routes(),
        *TaskRequests(imports.tasks, images).routes(),
        *ImageMembers(cloud, images).routes(),
        *_Facts(images).routes(),
    ]


class _Facts:
    """The requests for facts about the service."""

    def __init__(self, images: Images) -> None:
        self._images = images

    def routes(self) -> list[BaseRoute]:
        stores = {"stores": [{"id": STORE, "default": "true"}]}
        return [
            route("GET", "/v2/schemas/{name}", self._schema),
            route("GET", "/v2/info/import", fixed({"import-methods": _IMPORT_METHODS})),
            route("GET", "/v2/info/stores", fixed(stores)),
            route("GET", "/v2/info/stores/detail", self._store_details),
            route("GET", "/v2/info/usage", self._usage),
        ]

    async def _schema(self, request: Request) -> Document:
        name = request.path_params["name"]
        if name not in SCHEMAS:
            raise NotFoundError(f"There is no schema '{name}'.")
        return SCHEMAS[name]

    async def _store_details(self, request: Request) -> Document:
        if not context(request).is_admin:
            raise ForbiddenError("Only an administrator may see the details of stores.")
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
