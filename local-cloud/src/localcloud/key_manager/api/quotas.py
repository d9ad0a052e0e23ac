"""Quotas: the number of objects of a project, and the requests on it."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.key_manager.api import access
from localcloud.key_manager.api.listing import paged
from localcloud.key_manager.errors import KeyManagerError
from localcloud.key_manager.model import schemas
from localcloud.key_manager.model.state import State
from localcloud.web.http import NotFoundError, context, route

# As in Barbican: nothing is limited until an administrator says so.
DEFAULTS = {"secrets": -1, "orders": -1, "containers": -1, "consumers": -1, "cas": -1}


def effective(state: State, project_id: str) -> dict[str, int]:
    """Return the limits of a project; -1 is for none."""
    own = (state.quotas.get(project_id) or {"quotas": {}})["quotas"]
    return {**DEFAULTS, **{k: v for k, v in own.items() if v is not None}}


def check(state: State, project_id: str, kind: str, operation: str) -> None:
    """Raise ApiError where the project may not have one more of a kind."""
    limit = effective(state, project_id)[kind]
    if 0 <= limit <= _count(state, project_id, kind):
        reason = "Creation not allowed because a quota has been reached"
        raise KeyManagerError(403, operation, reason)


def _count(state: State, project_id: str, kind: str) -> int:
    if kind != "consumers":
        collections = {
            "secrets": state.secrets,
            "orders": state.orders,
            "containers": state.containers,
        }
        return sum(1 for _ in collections[kind].find(project_id=project_id))
    return sum(
        consumer["project_id"] == project_id
        for collection in (state.secrets, state.containers)
        for holder in collection.values()
        for consumer in holder["consumers"]
    )


class Quotas:
    """The requests on quotas."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v1/project-quotas/{id}"
        return [
            route("GET", "/v1/quotas", self._own),
            route("GET", "/v1/project-quotas", self._list),
            route("GET", one, self._show),
            route("PUT", one, self._set),
            route("DELETE", one, self._delete),
        ]

    async def _own(self, request: Request) -> Document:
        who = context(request)
        access.require("reader" in who.roles, "Quotas")
        return {"quotas": effective(self._state, who.require_project())}

    async def _list(self, request: Request) -> Document:
        self._require_admin(request)
        where = self._state.ref("project-quotas", "").rstrip("/")
        found = list(self._state.quotas.values())
        return paged(request, found, _shown, "project_quotas", where)

    async def _show(self, request: Request) -> Document:
        self._require_admin(request)
        return {"project_quotas": self._found(request)["quotas"]}

    async def _set(self, request: Request) -> None:
        self._require_admin(request)
        content = await schemas.read(request, schemas.QUOTAS, "Project Quota")
        quotas = {**dict.fromkeys(DEFAULTS), **content["project_quotas"]}
        self._state.quotas.put({"id": request.path_params["id"], "quotas": quotas})

    async def _delete(self, request: Request) -> None:
        self._require_admin(request)
        self._state.quotas.delete(self._found(request)["id"])

    def _found(self, request: Request) -> Document:
        found = self._state.quotas.get(request.path_params["id"])
        if found is None:
            raise NotFoundError("Project quotas not found.")
        return found

    def _require_admin(self, request: Request) -> None:
        access.require(context(request).is_admin, "Project Quotas")


def _shown(quotas: Document) -> Document:
    return {"project_id": quotas["id"], "project_quotas": quotas["quotas"]}
