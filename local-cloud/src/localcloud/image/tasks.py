"""The tasks of imports, as the API tells of them."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.image.images import Images
from localcloud.image.presentation import UNFINISHED
from localcloud.web.http import (
    ForbiddenError,
    MethodNotAllowedError,
    NotFoundError,
    PageQuery,
    RequestContext,
    context,
    page,
    route,
)

_KEPT_DAYS = 2
_MOST_OF_IMAGE = 20
"""Tasks of one image that are remembered."""
_BRIEF = ("id", "type", "status", "owner", "created_at", "updated_at", "expires_at")


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


class TaskRequests:
    """The requests on tasks; those of all images are for administrators."""

    def __init__(self, tasks: Tasks, images: Images) -> None:
        self._tasks = tasks
        self._images = images

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            route("GET", "/v2/images/{id}/tasks", self._of_image),
            route("GET", "/v2/tasks", self._list),
            route("POST", "/v2/tasks", self._refuse),
            route("GET", "/v2/tasks/{id}", self._show),
            route("DELETE", "/v2/tasks/{id}", self._refuse),
        ]

    async def _of_image(self, request: Request) -> Document:
        who = context(request)
        image = self._images.visible(who, request.path_params["id"])
        # An address may be signed: it is for the owner alone, whoever else sees the image.
        owned = who.is_admin or image["owner"] == who.project_id
        known = self._tasks.of_image(image["id"]) if owned else []
        return {"tasks": [{**task, "deleted": False, "deleted_at": None} for task in known]}

    async def _list(self, request: Request) -> Document:
        _require_admin(request)
        query = request.query_params
        known = [
            task
            for task in self._tasks.all()
            if all(query.get(name, task[name]) == task[name] for name in ("status", "type"))
        ]
        chosen = page(known, PageQuery.parse(query, "desc"), default_limit=25)
        shown = [{**{n: task[n] for n in _BRIEF}, **_links(task)} for task in chosen.items]
        return {"tasks": shown, "first": "/v2/tasks", "schema": "/v2/schemas/tasks"}

    async def _show(self, request: Request) -> Document:
        _require_admin(request)
        task = self._tasks.get(request.path_params["id"])
        return {**task, **_links(task)}

    async def _refuse(self, request: Request) -> Document:
        _require_admin(request)
        raise MethodNotAllowedError(
            "Tasks are made by imports alone, and deleted by themselves after the time of their "
            "expires_at.",
            headers={"Allow": "GET"},
        )


def _links(task: Document) -> Document:
    return {"self": f"/v2/tasks/{task['id']}", "schema": "/v2/schemas/task"}


def _require_admin(request: Request) -> None:
    if not context(request).is_admin:
        raise ForbiddenError("You are not authorized to complete tasks_api_access action.")
