"""Imports of images: what was staged, or is in the web, becomes the data of an image.

The task is the durable intent: a request writes it, answers, and the work is done afterwards, after
a restart as well.
"""

import asyncio
import importlib
import logging
from contextlib import aclosing
from functools import cached_property, partial
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.image.data import chunks
from localcloud.image.images import SIZE_LIMIT, Images
from localcloud.image.presentation import FAILED, IMPORTING, STORE, TASK
from localcloud.image.sources import FetchError, Sources
from localcloud.image.tasks import Tasks
from localcloud.web.http import (
    ApiError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RequestContext,
    context,
    read_json,
    route,
)

_LOG = logging.getLogger(__name__)
STAGED, WEB, COPY = IMPORT_METHODS = ("glance-direct", "web-download", "copy-image")
_AT_ONCE = 4
_SECONDS = 3600.0
"""For which one image may be fetched."""
_MIB = 1 << 20
_KEPT = ("stores", "all_stores", "all_stores_must_succeed")
_KEPT_OF_METHOD = ("name", "uri")
"""What the task of an import keeps of the request."""


class Imports:
    """Imports that are under way; the one instance is ``cloud.one(Imports)``."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.images = cloud.one(Images)
        self.tasks = Tasks(cloud, self.images)
        self.work = Work()
        self._slots = asyncio.Semaphore(_AT_ONCE)

    @cached_property
    def sources(self) -> Sources:
        """Tells from where images may come."""
        return Sources(self.cloud.settings, self.cloud.fabric.forwardings)

    async def stop(self) -> None:
        """End the imports; the next process resumes them."""
        await self.work.stop()

    def resume(self) -> None:
        """Begin again what the last process left."""
        for task in self.tasks.unfinished():
            self._begin(task)

    def add(self, who: RequestContext, image: Document, wish: Document) -> None:
        """Write an import of an image, and begin it."""
        with self.cloud.store.transaction():
            task = self.tasks.add(who, image, wish)
            self.images.change(image, {TASK: task["id"]})
        self._begin(task)

    def _begin(self, task: Document) -> None:
        self.work.begin(task["image_id"], partial(self._run, task))

    async def _run(self, task: Document) -> None:
        async with self._slots:
            self.tasks.change(task["id"], status="processing")
            try:
                size = await self._carried_out(task)
            except Exception as error:  # noqa: BLE001 - the task must show it
                if not isinstance(error, ApiError | OSError | FetchError):
                    _LOG.exception("import of image %s failed", task["image_id"])
                failed = {FAILED: STORE, "status": "queued", "size": None}
                self._end(task, failed, status="failure", message=f"Task failed due to: {error}")
            else:
                result = {"image_id": task["image_id"]}
                told = f"Copied {size // _MIB} MiB"
                self._end(task, {FAILED: ""}, status="success", result=result, message=told)

    def _end(self, task: Document, changes: dict[str, Any], **outcome: Any) -> None:
        """Tell the end of an import in its image and its task, in one commit."""
        image = self.images.records.get(task["image_id"])
        with self.cloud.store.transaction():
            if image is not None:
                kept = {name: value for name, value in image.items() if name != TASK}
                self.images.change(kept, {**changes, IMPORTING: ""})
            self.tasks.change(task["id"], **outcome)
        self.images.staged(task["image_id"]).unlink(missing_ok=True)

    async def _carried_out(self, task: Document) -> int:
        """Import the data of an image; returns how many bytes they are."""
        method, image = task["input"]["import_req"]["method"], self.images.get(task["image_id"])
        if image["status"] == "active":
            # All was there when the last process ended: who reads it must not lose it again.
            return int(image["size"])
        path = self.images.staged(image["id"])
        if method["name"] == WEB:
            await self._fetch(image["id"], method["uri"])
        elif not path.exists():
            raise NotFoundError("What was staged is gone; stage it again.")
        image = self.images.get(image["id"])
        image = self.images.change(image, {IMPORTING: STORE, FAILED: ""})
        filled = await self.images.fill(image, chunks(path), SIZE_LIMIT, "importing")
        return int(filled["size"])

    async def _fetch(self, image_id: str, uri: str) -> None:
        web: Any = importlib.import_module("localcloud.image.web")
        try:
            async with (
                asyncio.timeout(_SECONDS),
                aclosing(web.fetched(self.sources, uri)) as pieces,
            ):
                await self.images.stage(image_id, pieces, SIZE_LIMIT)
        except TimeoutError:
            raise FetchError(f"{uri} takes longer than {_SECONDS:.0f} s") from None


def load(cloud: Cloud) -> Imports:
    """Return the imports. Those that the last process left are resumed by the service's start."""
    return cloud.one(Imports)


class ImportRequests:
    """The request that begins an import."""

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
