"""Imports of images: staged data, or data from the web, becomes the data of an image.

A request writes a task and is answered; the import runs in the background. The task is in the store
before the answer, so that the next process resumes the import.
"""

import asyncio
import importlib
import logging
from contextlib import aclosing
from functools import cached_property, partial
from typing import Any

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.image.model.images import SIZE_LIMIT, Images, read_chunks
from localcloud.image.model.import_tasks import Tasks
from localcloud.image.model.presentation import FAILED, IMPORTING, STORE, TASK
from localcloud.image.model.sources import FetchError, Sources
from localcloud.web.http import (
    ApiError,
    NotFoundError,
    RequestContext,
)

_LOG = logging.getLogger(__name__)
STAGED, WEB, COPY = IMPORT_METHODS = ("glance-direct", "web-download", "copy-image")
_MOST_AT_ONCE = 4
_FETCH_SECONDS = 3600.0  # for one image
_MIB = 1 << 20


class Imports:
    """Imports that are under way; the one instance is ``cloud.one(Imports)``."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.images = cloud.one(Images)
        self.tasks = Tasks(cloud, self.images)
        self.work = Work()
        self._slots = asyncio.Semaphore(_MOST_AT_ONCE)

    @cached_property
    def sources(self) -> Sources:
        """The rules for the sources of images."""
        return Sources(self.cloud.settings, self.cloud.fabric.forwardings)

    async def stop(self) -> None:
        """End the imports; the next process resumes them."""
        await self.work.stop()

    def resume(self) -> None:
        """Start the imports again that the last process left."""
        for task in self.tasks.unfinished():
            self._begin(task)

    def add(self, who: RequestContext, image: Document, wish: Document) -> None:
        """Write an import of an image, and start it."""
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
                message = f"Copied {size // _MIB} MiB"
                self._end(task, {FAILED: ""}, status="success", result=result, message=message)

    def _end(self, task: Document, changes: dict[str, Any], **outcome: Any) -> None:
        """Write the end of an import into its image and its task, in one transaction."""
        image = self.images.records.get(task["image_id"])
        with self.cloud.store.transaction():
            if image is not None:
                fields = {name: value for name, value in image.items() if name != TASK}
                self.images.change(fields, {**changes, IMPORTING: ""})
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
        filled = await self.images.fill(image, read_chunks(path), SIZE_LIMIT, "importing")
        return int(filled["size"])

    async def _fetch(self, image_id: str, uri: str) -> None:
        web: Any = importlib.import_module("localcloud.image.model.web")
        try:
            async with (
                asyncio.timeout(_FETCH_SECONDS),
                aclosing(web.fetched(self.sources, uri)) as pieces,
            ):
                await self.images.stage(image_id, pieces, SIZE_LIMIT)
        except TimeoutError:
            raise FetchError(f"{uri} takes longer than {_FETCH_SECONDS:.0f} s") from None


def load(cloud: Cloud) -> Imports:
    """Return the imports. Those that the last process left are resumed by the service's start."""
    return cloud.one(Imports)
