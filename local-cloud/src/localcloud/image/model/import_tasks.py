"""The tasks of imports: source, image and result."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.image.model.presentation import UNFINISHED
from localcloud.web.http import (
    NotFoundError,
    RequestContext,
)

_KEPT_DAYS = 2
_MOST_OF_IMAGE = 20  # tasks that are kept of one image


class Tasks:
    """The tasks that there are; those that have ended are forgotten after two days."""

    def __init__(self, cloud: Cloud, images: Images) -> None:
        self._cloud = cloud
        self._known = images.tasks

    def add(self, who: RequestContext, image: Document, wish: Document) -> Document:
        """Keep a new task, and forget the oldest ones of its image beyond twenty."""
        self._forget_old()
        for old in self.of_image(image["id"])[_MOST_OF_IMAGE - 1 :]:
            self._known.delete(old["id"])
        now = self._cloud.now()
        task = {
            "id": str(uuid4()),
            "type": "api_image_import",
            "status": "pending",
            "owner": image["owner"],
            "user_id": who.user_id,
            "request_id": who.request_id,
            "image_id": image["id"],
            "input": {"image_id": image["id"], "import_req": wish},
            "result": None,
            "message": "",
            "created_at": now,
            "updated_at": now,
            "expires_at": None,
        }
        self._known.put(task)
        return task

    def change(self, task_id: str, **changes: Any) -> None:
        """Write changes to a task; one that is gone is left alone."""
        task = self._known.get(task_id)
        if task is None:
            return
        if changes.get("status") not in (None, *UNFINISHED):
            end = datetime.fromisoformat(self._cloud.now()) + timedelta(days=_KEPT_DAYS)
            changes["expires_at"] = end.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._known.put({**task, **changes, "updated_at": self._cloud.now()})

    def get(self, task_id: str) -> Document:
        """Return a task; raises NotFoundError."""
        task = self._known.get(task_id)
        if task is None:
            raise NotFoundError(f"Could not find task {task_id}")
        return task

    def all(self) -> list[Document]:
        """Return all tasks, the newest first."""
        self._forget_old()
        return list(self._known.values())[::-1]

    def of_image(self, image_id: str) -> list[Document]:
        """Return the tasks of an image, the newest first."""
        self._forget_old()
        return list(self._known.find(image_id=image_id))[::-1]

    def unfinished(self) -> list[Document]:
        """Return the tasks that have not ended."""
        return [task for status in UNFINISHED for task in self._known.find(status=status)]

    def _forget_old(self) -> None:
        now = self._cloud.now()
        for task in self._known.values():
            if task["expires_at"] is not None and task["expires_at"] <= now:
                self._known.delete(task["id"])
