"""The requests on the data of images: upload, download, staging and import."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import BaseRoute

from localcloud.http import (
    Answer,
    BadRequest,
    Conflict,
    Forbidden,
    TooLarge,
    UnsupportedMediaType,
    context,
    read_json,
    route,
)
from localcloud.image.images import SIZE_LIMIT, Images
from localcloud.image.records import IMPORT_METHODS
from localcloud.store import Document

_CHUNK = 1 << 20


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
            route("POST", f"{one}/import", self._import, 202),
        ]

    async def _download(self, request: Request) -> Answer:
        who = context(request)
        image = self._images.visible(who, request.path_params["id"])
        if image["status"] == "deactivated" and not who.is_admin:
            raise Forbidden("The image is deactivated.")
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
        path, size = self._images.staged(image["id"]), 0
        self._images.change(image, {"status": "uploading"})
        try:
            with path.open("wb") as file:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > SIZE_LIMIT:
                        raise TooLarge(f"The data is longer than {SIZE_LIMIT} bytes.")
                    file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            self._images.change(image, {"status": "queued"})
            raise

    async def _import(self, request: Request) -> None:
        method = (await read_json(request)).get("method")
        name = method.get("name") if isinstance(method, dict) else None
        if name not in IMPORT_METHODS:
            raise BadRequest(
                f"The import method '{name}' is not available: this cloud fetches nothing by "
                f"itself. Available: {', '.join(IMPORT_METHODS)}."
            )
        image = self._writable(request, "uploading")
        _require_formats(image)
        path = self._images.staged(image["id"])
        await self._images.fill(image, chunks(path), SIZE_LIMIT)
        path.unlink()

    def _writable(self, request: Request, status: str) -> Document:
        image = self._images.own(context(request), request.path_params["id"])
        media_type = request.headers.get("content-type", "").split(";")[0].strip()
        if request.method == "PUT" and media_type != "application/octet-stream":
            raise UnsupportedMediaType("The media type must be application/octet-stream.")
        if image["status"] != status:
            raise Conflict(f"The image is {image['status']}, not {status}.")
        return image


def _require_formats(image: Document) -> None:
    for name in ("container_format", "disk_format"):
        if image[name] is None:
            raise BadRequest(f"'{name}' must be set before the image gets its data.")


async def chunks(path: Path) -> AsyncIterator[bytes]:
    """Yield the content of a file."""
    with path.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, _CHUNK):
            yield chunk
