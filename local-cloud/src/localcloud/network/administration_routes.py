"""Routes of quotas and of what administrators look at."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.cloud import Cloud
from localcloud.http import RequestContext, context, read_json
from localcloud.network import administration, quotas
from localcloud.network.errors import denied, malformed
from localcloud.network.service import NetworkService
from localcloud.network.visibility import find


def _own(request: Request) -> str:
    """Return the project of a quota path; raises ApiError where it is not the caller's."""
    caller: RequestContext = context(request)
    project = str(request.path_params["project_id"])
    if not caller.is_admin and project != caller.project_id:
        raise denied("get_quota of another project")
    return project


def _require_admin(request: Request, action: str) -> None:
    if not context(request).is_admin:
        raise denied(action)


class AdministrationRoutes:
    """Routes of quotas, agents, zones and reports."""

    def __init__(self, cloud: Cloud, service: NetworkService) -> None:
        self._cloud = cloud
        self._state = service.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes below the prefix."""
        quota = "/v2.0/quotas/{project_id}"
        return [
            Route("/v2.0/quotas", self._quotas, methods=["GET"]),
            Route(quota, self._quota, methods=["GET"]),
            Route(quota, self._set_quota, methods=["PUT"]),
            Route(quota, self._reset_quota, methods=["DELETE"]),
            Route(f"{quota}/default", self._default_quota, methods=["GET"]),
            Route(f"{quota}/details", self._quota_details, methods=["GET"]),
            Route(f"{quota}/details.json", self._quota_details, methods=["GET"]),
            Route("/v2.0/agents", self._agents, methods=["GET"]),
            Route("/v2.0/agents/{id}", self._agent, methods=["GET"]),
            Route("/v2.0/availability_zones", self._zones, methods=["GET"]),
            Route("/v2.0/service-providers", self._providers, methods=["GET"]),
            Route("/v2.0/network-ip-availabilities", self._availabilities, methods=["GET"]),
            Route("/v2.0/network-ip-availabilities/{id}", self._availability, methods=["GET"]),
            Route("/v2.0/routers/{id}/l3-agents", self._router_agents, methods=["GET"]),
            Route("/v2.0/networks/{id}/dhcp-agents", self._network_agents, methods=["GET"]),
        ]

    async def _quotas(self, request: Request) -> Response:
        _require_admin(request, "get_quota of all projects")
        found = [
            {"project_id": one["id"], "tenant_id": one["id"], **one["limits"]}
            for one in self._state.all("quota").values()
        ]
        return JSONResponse({"quotas": found})

    async def _quota(self, request: Request) -> Response:
        if request.path_params["project_id"] in ("tenant", "project"):
            project = context(request).project_id
            return JSONResponse({"tenant": {"tenant_id": project, "project_id": project}})
        return JSONResponse({"quota": quotas.limits(self._state, _own(request))})

    async def _set_quota(self, request: Request) -> Response:
        body = await read_json(request)
        _require_admin(request, "update_quota")
        if "quota" not in body:
            raise malformed("The body must have 'quota'.")
        project = request.path_params["project_id"]
        return JSONResponse({"quota": quotas.store(self._state, project, body["quota"])})

    async def _reset_quota(self, request: Request) -> Response:
        _require_admin(request, "delete_quota")
        quotas.reset(self._state, request.path_params["project_id"])
        return Response(status_code=204)

    async def _default_quota(self, request: Request) -> Response:
        _own(request)
        return JSONResponse({"quota": quotas.DEFAULTS})

    async def _quota_details(self, request: Request) -> Response:
        return JSONResponse({"quota": quotas.details(self._state, _own(request))})

    async def _agents(self, request: Request) -> Response:
        found = administration.agents(context(request), self._cloud.now())
        return JSONResponse({"agents": _filtered(found, request)})

    async def _agent(self, request: Request) -> Response:
        object_id = request.path_params["id"]
        return JSONResponse(
            {"agent": administration.agent(context(request), self._cloud.now(), object_id)}
        )

    async def _zones(self, request: Request) -> Response:
        found = _filtered(administration.availability_zones(), request)
        return JSONResponse({"availability_zones": found})

    async def _providers(self, request: Request) -> Response:
        found = _filtered(administration.service_providers(), request)
        return JSONResponse({"service_providers": found})

    async def _availabilities(self, request: Request) -> Response:
        version = request.query_params.get("ip_version")
        found = administration.ip_availabilities(self._state, context(request), version)
        return JSONResponse({"network_ip_availabilities": _filtered(found, request)})

    async def _availability(self, request: Request) -> Response:
        object_id = request.path_params["id"]
        found = administration.ip_availability(self._state, context(request), object_id)
        return JSONResponse({"network_ip_availability": found})

    async def _router_agents(self, request: Request) -> Response:
        return self._hosting(request, "router", "L3 agent")

    async def _network_agents(self, request: Request) -> Response:
        return self._hosting(request, "network", "DHCP agent")

    def _hosting(self, request: Request, kind: str, type_name: str) -> Response:
        find(self._state, context(request), kind, request.path_params["id"])
        found = administration.agents(context(request), self._cloud.now())
        return JSONResponse({"agents": [one for one in found if one["agent_type"] == type_name]})


def _filtered(found: list[dict[str, object]], request: Request) -> list[dict[str, object]]:
    """Return the entries that are equal to the query in all fields that they have."""
    query = request.query_params
    return [
        one
        for one in found
        if all(
            str(one[name]).lower() in [text.lower() for text in query.getlist(name)]
            for name in query
            if name in one
        )
    ]
