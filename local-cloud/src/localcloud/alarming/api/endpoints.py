"""All requests of the alarm API."""

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from localcloud.alarming.api.alarms import Alarms, change, shown
from localcloud.alarming.api.queries import complex_query
from localcloud.alarming.errors import invalid
from localcloud.alarming.instance import Alarming
from localcloud.alarming.model.state import DEFAULT_QUOTA, State
from localcloud.core.store import Document
from localcloud.web.http import (
    Answer,
    ForbiddenError,
    NotFoundError,
    context,
    fixed,
    read_json,
    route,
)

_CAPABILITIES = {
    "alarm_storage": {"storage:production_ready": True},
    "api": {
        f"alarms:{part}": True
        for part in (
            "query:simple", "query:complex", "history:query:simple", "history:query:complex",
        )
    },
}  # fmt: skip


def routes(alarming: Alarming) -> list[BaseRoute]:
    """Return the routes."""
    state = alarming.state

    async def query_alarms(request: Request) -> Answer:
        every = [shown(alarm) for alarm in state.visible(context(request))]
        return JSONResponse(complex_query(await read_json(request), every))

    async def query_history(request: Request) -> Answer:
        who, given = context(request), await read_json(request)
        every = state.changes
        found = every.values() if who.is_admin else every.find(project_id=who.project_id)
        return JSONResponse(complex_query(given, [change(each) for each in found]))

    return [
        *Alarms(alarming).routes(),
        route("POST", "/v2/query/alarms", query_alarms),
        route("POST", "/v2/query/alarms/history", query_history),
        route("GET", "/v2/capabilities", fixed(_CAPABILITIES)),
        *_Quotas(state).routes(),
    ]


class _Quotas:
    """The requests on how many alarms a project may have."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            route("GET", "/v2/quotas", self._show),
            route("POST", "/v2/quotas", self._set, 201),
            route("DELETE", "/v2/quotas/{project}", self._reset),
        ]

    async def _show(self, request: Request) -> Document:
        who = context(request)
        project = request.query_params.get("project_id") or who.require_project()
        if project != who.project_id and not who.is_admin:
            raise ForbiddenError("RBAC Authorization Failed")
        return self._shown(project)

    async def _set(self, request: Request) -> Document:
        self._administer(request)
        given = await read_json(request)
        project, quotas = given.get("project_id"), given.get("quotas")
        if not isinstance(project, str) or not isinstance(quotas, list):
            raise invalid("quotas", quotas, "project_id and a list of quotas are expected.")
        for each in quotas[:10]:
            limit = each.get("limit") if isinstance(each, dict) else None
            if each.get("resource") != "alarms" or not isinstance(limit, int) or limit < -1:
                raise invalid("quotas", each, "The resource alarms with a limit is expected.")
            self._state.quotas.put({"id": project, "alarms": min(limit, DEFAULT_QUOTA * 10)})
        return self._shown(project)

    async def _reset(self, request: Request) -> None:
        self._administer(request)
        project = request.path_params["project"]
        if project not in self._state.quotas:
            raise NotFoundError(f"Quotas of project {project} not found")
        self._state.quotas.delete(project)

    def _shown(self, project: str) -> Document:
        quota = {"resource": "alarms", "limit": self._state.limit(project)}
        return {"project_id": project, "quotas": [quota]}

    def _administer(self, request: Request) -> None:
        if not context(request).is_admin:
            raise ForbiddenError("RBAC Authorization Failed")
