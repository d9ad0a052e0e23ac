"""The verbs of the API that are more than create, update and delete."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.http import RequestContext, context, read_json
from localcloud.network import address_groups, checks, crud, router_interfaces, routers
from localcloud.network.errors import invalid, malformed
from localcloud.network.kinds import OPERATIONS
from localcloud.network.service import NetworkService
from localcloud.network.state import State
from localcloud.network.visibility import find, require_writer
from localcloud.store import Document

Action = Callable[[State, RequestContext, Document, Any], Document]


def _routes(body: dict[str, Any]) -> list[dict[str, str]]:
    router = body.get("router")
    if not isinstance(router, dict) or set(router) != {"routes"}:
        raise malformed("The body must be an object 'router' with 'routes' alone.")
    try:
        routes: list[dict[str, str]] = checks.routes(router["routes"])
    except ValueError as error:
        raise invalid(f"Invalid value for routes: {error}.") from None
    return routes


class ActionRoutes:
    """Routes of the verbs."""

    def __init__(self, service: NetworkService) -> None:
        self._service = service

    def routes(self) -> list[BaseRoute]:
        """Return the routes below the prefix."""
        router, group = "/v2.0/routers/{id}", "/v2.0/address-groups/{id}"
        actions = {
            f"{router}/add_router_interface": ("router", router_interfaces.add, False),
            f"{router}/remove_router_interface": ("router", router_interfaces.remove, False),
            f"{router}/add_extraroutes": ("router", _add_routes, True),
            f"{router}/remove_extraroutes": ("router", _remove_routes, True),
            f"{group}/add_addresses": ("address_group", address_groups.add_addresses, True),
            f"{group}/remove_addresses": ("address_group", address_groups.remove_addresses, True),
        }
        return [
            Route(path, self._handler(kind, action, wrapped), methods=["PUT"])
            for path, (kind, action, wrapped) in actions.items()
        ]

    def _handler(
        self, kind: str, action: Action, wrapped: bool
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of an action; ``wrapped`` ones answer with the object itself."""
        state = self._service.state

        async def handle(request: Request) -> Response:
            body, caller = await read_json(request), context(request)
            require_writer(caller, f"update_{kind}")
            with state.change():
                document = find(state, caller, kind, request.path_params["id"])
                answer = action(state, caller, document, body)
            if wrapped:
                operations = OPERATIONS[f"{kind}s"]
                answer = {kind: crud.shown(state, caller, operations, answer)}
            await self._service.declarer.flush()
            return JSONResponse(answer)

        return handle


def _add_routes(state: State, caller: RequestContext, router: Document, body: Any) -> Document:
    return routers.add_routes(state, caller, router, _routes(body))


def _remove_routes(state: State, caller: RequestContext, router: Document, body: Any) -> Document:
    return routers.remove_routes(state, caller, router, _routes(body))
