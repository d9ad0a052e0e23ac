"""The requests on the tasks of imports."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.image.model.import_tasks import Tasks
from localcloud.web.http import (
    ForbiddenError,
    MethodNotAllowedError,
    PageQuery,
    context,
    page,
    route,
)

_BRIEF = ("id", "type", "status", "owner", "created_at", "updated_at", "expires_at")


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
        # The URL of an import may be signed. Only the owner may see it, even if others see the
        # image.
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
