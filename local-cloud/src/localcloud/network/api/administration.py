"""The API of administrators: quotas, agents, availability zones, use of addresses, providers."""

import platform
from functools import partial
from uuid import UUID, uuid5

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.network.errors import denied, malformed, not_found
from localcloud.network.model import ipam, quotas
from localcloud.network.model.visibility import find
from localcloud.network.objects.networks import ZONE
from localcloud.network.service import NetworkService
from localcloud.web.http import context, read_json, route

_SPACE = UUID("6a3c2b0e-7a0c-4c52-9f6e-0c5f6a4c1f5d")
_AGENTS = (
    ("L3 agent", "neutron-l3-agent", ZONE),
    ("Linux bridge agent", "neutron-linuxbridge-agent", None),
    ("DHCP agent", "neutron-dhcp-agent", ZONE),
    ("Metadata agent", "neutron-metadata-agent", None),
)
_ZONES = [
    {"name": ZONE, "resource": resource, "state": "available"} for resource in ("network", "router")
]
_PROVIDERS = [{"service_type": "L3_ROUTER_NAT", "name": "single_node", "default": True}]


class Administration:
    """Requests on quotas, agents, zones and reports."""

    def __init__(self, service: NetworkService) -> None:
        self._now = service.cloud.now
        self._state = service.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes below the prefix."""
        quota, availability = "/v2.0/quotas/{project_id}", "/v2.0/network-ip-availabilities"
        return [
            route("GET", "/v2.0/quotas", self._quotas),
            route("GET", quota, self._quota),
            route("PUT", quota, self._set_quota),
            route("DELETE", quota, self._reset_quota),
            route("GET", f"{quota}/default", self._default_quota),
            route("GET", f"{quota}/details", self._quota_details),
            route("GET", f"{quota}/details.json", self._quota_details),
            route("GET", "/v2.0/agents", self._list_agents),
            route("GET", "/v2.0/agents/{id}", self._show_agent),
            route("GET", "/v2.0/availability_zones", partial(_facts, "availability_zones", _ZONES)),
            route(
                "GET", "/v2.0/service-providers", partial(_facts, "service_providers", _PROVIDERS)
            ),
            route("GET", availability, self._availabilities),
            route("GET", f"{availability}/{{id}}", self._show_availability),
            route(
                "GET", "/v2.0/routers/{id}/l3-agents", partial(self._hosting, "router", "L3 agent")
            ),
            route(
                "GET",
                "/v2.0/networks/{id}/dhcp-agents",
                partial(self._hosting, "network", "DHCP agent"),
            ),
        ]

    async def _quotas(self, request: Request) -> Document:
        _require_admin(request, "get_quota of all projects")
        found = [
            {"project_id": one["id"], "tenant_id": one["id"], **one["limits"]}
            for one in self._state.all("quota").values()
        ]
        return {"quotas": found}

    async def _quota(self, request: Request) -> Document:
        if request.path_params["project_id"] in ("tenant", "project"):
            project = context(request).project_id
            return {"tenant": {"tenant_id": project, "project_id": project}}
        return {"quota": quotas.limits(self._state, _own(request))}

    async def _set_quota(self, request: Request) -> Document:
        body = await read_json(request)
        _require_admin(request, "update_quota")
        if "quota" not in body:
            raise malformed("The body must have 'quota'.")
        project = request.path_params["project_id"]
        return {"quota": quotas.store(self._state, project, body["quota"])}

    async def _reset_quota(self, request: Request) -> None:
        _require_admin(request, "delete_quota")
        self._state.all("quota").delete(request.path_params["project_id"])

    async def _default_quota(self, request: Request) -> Document:
        _own(request)
        return {"quota": quotas.DEFAULTS}

    async def _quota_details(self, request: Request) -> Document:
        return {"quota": quotas.details(self._state, _own(request))}

    async def _list_agents(self, request: Request) -> Document:
        return {"agents": _filtered(self._agents(request), request)}

    async def _show_agent(self, request: Request) -> Document:
        key = request.path_params["id"]
        for agent in self._agents(request):
            if agent["id"] == key:
                return {"agent": agent}
        raise not_found("agent", key)

    async def _hosting(self, kind: str, type_name: str, request: Request) -> Document:
        find(self._state, context(request), kind, request.path_params["id"])
        return {"agents": [a for a in self._agents(request) if a["agent_type"] == type_name]}

    def _agents(self, request: Request) -> list[Document]:
        """Return the parts of the fabric under the names that tools expect."""
        _require_admin(request, "get_agent")
        now = self._now().replace("T", " ").rstrip("Z")
        return [
            {
                "id": str(uuid5(_SPACE, binary)),
                "agent_type": type_name,
                "binary": binary,
                "host": platform.node() or "localhost",
                "topic": "N/A",
                "availability_zone": zone,
                "admin_state_up": True,
                "alive": True,
                "created_at": now,
                "started_at": now,
                "heartbeat_timestamp": now,
                "description": None,
                "configurations": {},
                "resources_synced": None,
            }
            for type_name, binary, zone in _AGENTS
        ]

    async def _availabilities(self, request: Request) -> Document:
        _require_admin(request, "get_network_ip_availability")
        version = request.query_params.get("ip_version")
        versions = (int(version),) if version in ("4", "6") else (4, 6)
        found = [self._availability(n, versions) for n in self._state.all("network").values()]
        return {"network_ip_availabilities": _filtered(found, request)}

    async def _show_availability(self, request: Request) -> Document:
        _require_admin(request, "get_network_ip_availability")
        network = self._state.get("network", request.path_params["id"])
        return {"network_ip_availability": self._availability(network, (4, 6))}

    def _availability(self, network: Document, versions: tuple[int, ...]) -> Document:
        """Return how many addresses of a network there are and are in use."""
        subnets: list[Document] = [
            {
                "subnet_id": subnet["id"],
                "subnet_name": subnet["name"],
                "cidr": subnet["cidr"],
                "ip_version": subnet["ip_version"],
                "total_ips": ipam.pool_size(ipam.pools(subnet["allocation_pools"])),
                "used_ips": len(self._state.addresses(subnet["id"]).owners),
            }
            for subnet in self._state.subnets(network["id"])
            if subnet["ip_version"] in versions
        ]
        return {
            "network_id": network["id"],
            "network_name": network["name"],
            "project_id": network["project_id"],
            "tenant_id": network["project_id"],
            "total_ips": sum(subnet["total_ips"] for subnet in subnets),
            "used_ips": sum(subnet["used_ips"] for subnet in subnets),
            "subnet_ip_availability": subnets,
        }


async def _facts(plural: str, found: list[Document], request: Request) -> Document:
    return {plural: _filtered(found, request)}


def _require_admin(request: Request, action: str) -> None:
    if not context(request).is_admin:
        raise denied(action)


def _own(request: Request) -> str:
    """Return the project of a quota path; raises ApiError where it is not the caller's."""
    caller, project = context(request), str(request.path_params["project_id"])
    if not caller.is_admin and project != caller.project_id:
        raise denied("get_quota of another project")
    return project


def _filtered(found: list[Document], request: Request) -> list[Document]:
    """Return the entries that are equal to the query in all fields that they have."""
    texts_by_name = {name: request.query_params.getlist(name) for name in request.query_params}
    return [
        one
        for one in found
        if all(
            str(one[name]).lower() in [text.lower() for text in texts]
            for name, texts in texts_by_name.items()
            if name in one
        )
    ]
