"""The request that starts an import."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.image.jobs import COPY, IMPORT_METHODS, STAGED, WEB, Imports
from localcloud.image.model.images import Images
from localcloud.image.model.presentation import STORE, TASK
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    RequestContext,
    context,
    read_json,
    route,
)

_KEPT = ("stores", "all_stores", "all_stores_must_succeed")
_KEPT_OF_METHOD = ("name", "uri")  # fields of the request that the task keeps


class ImportRequests:
    """The request that starts an import."""

    def __init__(self, imports: Imports, images: Images) -> None:
        self._imports = imports
        self._images = images

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [route("POST", "/v2/images/{id}/import", self._import, 202)]

    async def _import(self, request: Request) -> None:
        body = await read_json(request)
        name = _method(body)
        _check_stores(body)
        wish = {key: body[key] for key in _KEPT if key in body}
        wish["method"] = {
            key: body["method"][key] for key in _KEPT_OF_METHOD if key in body["method"]
        }
        who = context(request)
        image = self._images.visible(who, request.path_params["id"])
        if name == COPY:
            self._copy(who, image, wish)
            return
        image = self._images.own(who, image["id"])
        _require_ready(image, name)
        if name == STAGED and not self._images.staged(image["id"]).exists():
            raise ConflictError(f"Image needs to be staged before '{STAGED}' method can be used")
        if name == WEB:
            uri = wish["method"].get("uri")
            if self._imports.sources.parsed(uri) is None:
                raise BadRequestError(
                    f"URI for {WEB} does not pass filtering: {uri} (http and https; from the "
                    "Internet, the cloud's services, servers at their floating IPs, and what "
                    "--image-hosts of the cloud allows)"
                )
        self._imports.add(who, image, wish)

    def _copy(self, who: RequestContext, image: Document, wish: Document) -> None:
        """Copy an image to where it is not: there is one store, in which all images are."""
        if image["status"] != "active":
            raise ConflictError("Only images with status active can be targeted for copying")
        if not who.is_admin:
            raise ForbiddenError("You are not authorized to complete copy_image action.")
        if not wish.get("all_stores"):
            raise BadRequestError(f"Image is already present at store '{STORE}'")


def _require_ready(image: Document, name: str) -> None:
    """Raise where an image cannot be imported by this method, as it is now."""
    if image["status"] == "active":
        raise ConflictError("Image with status active cannot be target for import")
    for formed in ("container_format", "disk_format"):
        if image[formed] is None:
            raise ConflictError(f"'{formed}' needs to be set before import")
    if image.get(TASK) is not None:
        raise ConflictError("Image has active task")
    if name == WEB and image["status"] != "queued":
        raise ConflictError(f"Image needs to be in 'queued' state to use '{WEB}' method")


def _method(wish: Document) -> str:
    if "method" not in wish:
        raise BadRequestError("Import request requires a 'method' field.")
    method = wish["method"]
    if not isinstance(method, dict) or "name" not in method:
        raise BadRequestError("Import request requires a 'name' field.")
    if method["name"] not in IMPORT_METHODS:
        raise BadRequestError(f"Unknown import method name '{method['name']}'.")
    return str(method["name"])


def _check_stores(wish: Document) -> None:
    stores, everywhere = wish.get("stores", []), wish.get("all_stores", False)
    if not isinstance(stores, list):
        raise BadRequestError("'stores' must be a list of the names of stores.")
    if not isinstance(everywhere, bool):
        raise BadRequestError("'all_stores' must be boolean value only")
    if everywhere and stores:
        raise BadRequestError(
            "All_stores parameter can't be used with x-image-meta-store header or stores parameter"
        )
    for store in stores:
        if store != STORE:
            raise ConflictError(f"Store for identifier {store} not found")
