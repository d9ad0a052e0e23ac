"""Quotas: the number of zones of a project, and of records in them."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.dns.errors import DnsError, invalid
from localcloud.dns.model.state import State
from localcloud.web.http import context, read_json, route

# More zones than a new cloud allows: this one is for a whole test suite.
DEFAULTS = {
    "zones": 1000,
    "zone_recordsets": 500,
    "zone_records": 500,
    "recordset_records": 20,
    "api_export_size": 1000,
}
_UNLIMITED = -1


def limits(state: State, project: str) -> dict[str, int]:
    """Return the limits of a project; -1 is for none."""
    own = (state.quotas.get(project) or {"limits": {}})["limits"]
    return {**DEFAULTS, **own}


def check(state: State, project: str, name: str, count: int) -> None:
    """Raise DnsError for more than a project may have."""
    limit = limits(state, project)[name]
    if limit != _UNLIMITED and count > limit:
        raise DnsError(413, "over_quota", f"Quota exceeded for {name}.")


class Quotas:
    """The requests on quotas."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            route("GET", "/v2/limits", self._limits),
            route("GET", "/v2/quotas", self._show),
            route("GET", "/v2/quotas/{id}", self._show),
            route("PATCH", "/v2/quotas/{id}", self._set),
            route("DELETE", "/v2/quotas/{id}", self._reset),
        ]

    async def _limits(self, request: Request) -> Document:
        own = limits(self._state, context(request).require_project())
        return {
            **{f"max_{name}": own[name] for name in DEFAULTS if name != "api_export_size"},
            "max_zone_name_length": 255,
            "max_recordset_name_length": 255,
            "max_page_limit": 1000,
            "min_ttl": None,
            "default_sort_key": "created_at",
        }

    async def _show(self, request: Request) -> Document:
        return limits(self._state, self._project(request))

    async def _set(self, request: Request) -> Document:
        project = self._project(request, change=True)
        given = await read_json(request)
        for name, value in given.items():
            if name not in DEFAULTS:
                raise invalid([name], f"'{name}' is not a quota")
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not _UNLIMITED <= value < 2**31:
                raise invalid([name], f"{value!r} is not of type 'integer'")
        own = (self._state.quotas.get(project) or {"limits": {}})["limits"]
        self._state.quotas.put({"id": project, "limits": {**own, **given}})
        return limits(self._state, project)

    async def _reset(self, request: Request) -> None:
        self._state.quotas.delete(self._project(request, change=True))

    def _project(self, request: Request, change: bool = False) -> str:
        who = context(request)
        project = str(request.path_params.get("id") or who.require_project())
        if not who.is_admin and (change or project != who.project_id):
            raise DnsError(403, "forbidden", "Forbidden")
        return project
