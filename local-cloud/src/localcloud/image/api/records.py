"""The requests on image records: list, create, show, change, delete, tags, deactivation."""

from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.image.api.attributes import TAG_LIMIT, authorize, checked, image_id, split
from localcloud.image.api.listing import image_list
from localcloud.image.api.patch import changes, read_patch
from localcloud.image.jobs import IMPORT_METHODS
from localcloud.image.model.images import HOST_KIND, Images, built_in
from localcloud.image.model.presentation import STORE, shown
from localcloud.web.http import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    TooLargeError,
    context,
    read_json,
    route,
)


class ImageRecords:
    """The requests on the records of images."""

    def __init__(self, images: Images, url: str) -> None:
        self._images = images
        self._url = url

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v2/images/{id}"
        return [
            route("GET", "/v2/images", self._list),
            route("POST", "/v2/images", self._create),
            route("GET", one, self._show),
            route("PATCH", one, self._update),
            route("DELETE", one, self._delete),
            route("PUT", f"{one}/tags/{{tag}}", self._add_tag),
            route("DELETE", f"{one}/tags/{{tag}}", self._remove_tag),
            route("POST", f"{one}/actions/deactivate", partial(self._switch, "deactivated")),
            route("POST", f"{one}/actions/reactivate", partial(self._switch, "active")),
        ]

    async def _list(self, request: Request) -> Document:
        return image_list(self._images, context(request), request.query_params)

    async def _create(self, request: Request) -> Response:
        who, body = context(request), await read_json(request)
        is_host = who.is_admin and HOST_KIND.items() <= body.items()
        if is_host:
            body = {key: body[key] for key in body if key not in HOST_KIND}
        attributes, properties = split(body)
        authorize(who, attributes, None)
        if "tags" in attributes:
            attributes["tags"] = sorted(set(attributes["tags"]))
        if "id" in body:
            attributes["id"] = image_id(body["id"])
        image = self._images.record(
            **{"owner": who.project_id, "name": None, **attributes, "properties": properties}
        )
        if is_host:
            image = built_in(image)
        self._images.add(image)
        headers = {
            "Location": f"{self._url}/v2/images/{image['id']}",
            "OpenStack-image-import-methods": ",".join(IMPORT_METHODS),
            "OpenStack-image-store-ids": STORE,
        }
        return JSONResponse(shown(image), 201, headers)

    async def _show(self, request: Request) -> Document:
        image = self._images.visible(context(request), request.path_params["id"])
        return shown(image)

    async def _update(self, request: Request) -> Document:
        image = self._own(request)
        operations = await read_patch(request)
        changed = changes(image, operations)
        authorize(context(request), changed, image)
        return shown(self._images.change(image, changed))

    async def _delete(self, request: Request) -> None:
        image = self._own(request)
        if image["protected"]:
            raise ForbiddenError("The image is protected and cannot be deleted.")
        self._images.delete(image)

    async def _add_tag(self, request: Request) -> None:
        image, tag = self._own(request), request.path_params["tag"]
        tags = sorted({*image["tags"], tag})
        if len(tags) > TAG_LIMIT:
            raise TooLargeError(f"An image may have {TAG_LIMIT} tags.")
        self._images.change(image, {"tags": checked("tags", tags)})

    async def _remove_tag(self, request: Request) -> None:
        image, tag = self._own(request), request.path_params["tag"]
        if tag not in image["tags"]:
            raise NotFoundError(f"The image has no tag '{tag}'.")
        self._images.change(image, {"tags": [t for t in image["tags"] if t != tag]})

    async def _switch(self, status: str, request: Request) -> None:
        image = self._own(request)
        if not context(request).is_admin:
            raise ForbiddenError("Only an administrator may deactivate and reactivate images.")
        if image["status"] not in {"active", "deactivated"}:
            raise ConflictError(f"An image in status {image['status']} cannot become {status}.")
        self._images.change(image, {"status": status})

    def _own(self, request: Request) -> Document:
        return self._images.own(context(request), request.path_params["id"])
