"""The requests on the data of images: upload, download and staging."""

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.image.model.images import SIZE_LIMIT, Images
from localcloud.image.model.presentation import TASK
from localcloud.web.http import (
    Answer,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    UnsupportedMediaTypeError,
    context,
    route,
)


class ImageData:
    """The requests on the data of images."""

    def __init__(self, images: Images) -> None:
        self._images = images

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v2/images/{id}"
        return [
            route("GET", f"{one}/file", self._download),
            route("PUT", f"{one}/file", self._upload),
            route("PUT", f"{one}/stage", self._stage),
        ]

    async def _download(self, request: Request) -> Answer:
        who = context(request)
        image = self._images.visible(who, request.path_params["id"])
        if image["status"] == "deactivated" and not who.is_admin:
            raise ForbiddenError("The image is deactivated.")
        path = self._images.path(image["id"])
        if path is None:
            return None
        headers = {"Content-MD5": image["checksum"]} if image["checksum"] else {}
        return FileResponse(path, media_type="application/octet-stream", headers=headers)

    async def _upload(self, request: Request) -> None:
        image = self._writable(request, "queued")
        _require_formats(image)
        await self._images.fill(image, request.stream(), SIZE_LIMIT)

    async def _stage(self, request: Request) -> None:
        image = self._writable(request, "queued")
        image = self._images.change(image, {"status": "uploading"})
        try:
            size = await self._images.stage(image["id"], request.stream(), SIZE_LIMIT)
        except BaseException:
            if image["id"] in self._images.records:
                self._images.change(self._images.get(image["id"]), {"status": "queued"})
            raise
        self._images.change(self._images.get(image["id"]), {"size": size})

    def _writable(self, request: Request, status: str) -> Document:
        image = self._images.own(context(request), request.path_params["id"])
        media_type = request.headers.get("content-type", "").split(";")[0].strip()
        if request.method == "PUT" and media_type != "application/octet-stream":
            raise UnsupportedMediaTypeError("The media type must be application/octet-stream.")
        if image["status"] != status:
            raise ConflictError(f"The image is {image['status']}, not {status}.")
        if image.get(TASK) is not None:
            raise ConflictError("Image has active task")
        return image


def _require_formats(image: Document) -> None:
    for name in ("container_format", "disk_format"):
        if image[name] is None:
            raise BadRequestError(f"'{name}' must be set before the image gets its data.")
