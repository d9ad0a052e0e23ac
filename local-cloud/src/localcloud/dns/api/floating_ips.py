"""Names of floating IPs, which the name server gives for their addresses."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.dns.errors import DnsError, bad_request, invalid
from localcloud.dns.model import values
from localcloud.dns.model.state import DEFAULT_TTL, PREFIX, State
from localcloud.dns.name_server.server import NameServer
from localcloud.web.http import context, read_json, route

_GIVEN = frozenset({"ptrdname", "ttl", "description"})


class FloatingIPNames:
    """The requests on names of floating IPs."""

    def __init__(self, state: State, server: NameServer) -> None:
        self._state = state
        self._server = server

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        path = "/v2/reverse/floatingips"
        return [
            route("GET", path, self._list),
            route("GET", f"{path}/{{key}}", self._show),
            route("PATCH", f"{path}/{{key}}", self._set),
        ]

    async def _list(self, request: Request) -> Document:
        project = context(request).require_project()
        own = self._state.floating_ips.find(project_id=project)
        shown = [self._shown(floating_ip) for floating_ip in own]
        url = f"{self._state.cloud.settings.url}{PREFIX}{request.url.path}"
        total = {"total_count": len(shown)}
        return {"floatingips": shown, "links": {"self": url}, "metadata": total}

    async def _show(self, request: Request) -> Document:
        return self._shown(self._found(request))

    async def _set(self, request: Request) -> Response:
        given = await read_json(request)
        values.known_fields(given, _GIVEN, "floatingip")
        if "ptrdname" not in given:
            raise invalid(["ptrdname"], "'ptrdname' is a required property")
        floating_ip = self._found(request)
        if given["ptrdname"] is None:
            self._state.pointers.delete(floating_ip["id"])
            return Response(status_code=202)
        ttl = values.ttl(given.get("ttl"))
        await self._server.start()
        self._state.pointers.put(
            {
                "id": floating_ip["id"],
                "project_id": floating_ip["project_id"],
                "address": floating_ip["floating_ip_address"],
                "ptrdname": values.host_name(given["ptrdname"]),
                "ttl": DEFAULT_TTL if ttl is None else ttl,
                "description": values.description(given.get("description")),
            }
        )
        return JSONResponse(self._shown(floating_ip), 202)

    def _found(self, request: Request) -> Document:
        key = request.path_params["key"]
        region, _, floating_ip_id = key.partition(":")
        try:
            UUID(floating_ip_id)
        except ValueError as error:
            message = f"Floating IP {key} is not in the format of <region>:<uuid>"
            raise bad_request(message) from error
        found = self._state.floating_ips.get(floating_ip_id)
        project = context(request).require_project()
        here = region == self._state.cloud.settings.region
        if found is None or found["project_id"] != project or not here:
            message = f"FloatingIP {floating_ip_id} in {region} is not associated for project"
            raise DnsError(404, "not_found", f'{message} "{project}"')
        return found

    def _shown(self, floating_ip: Document) -> Document:
        settings = self._state.cloud.settings
        key = f"{settings.region}:{floating_ip['id']}"
        pointer = self._state.pointers.get(floating_ip["id"])
        names = ("ptrdname", "ttl", "description")
        named = {name: pointer[name] if pointer else None for name in names}
        return {
            "id": key,
            "address": floating_ip["floating_ip_address"],
            **named,
            "status": "ACTIVE" if pointer else None,
            "action": "NONE" if pointer else None,
            "links": {"self": f"{settings.url}{PREFIX}/v2/reverse/floatingips/{key}"},
        }
