"""The verbs of the API that are more than create, update and delete."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from localcloud.core.store import Document
from localcloud.network.api.crud import Crud
from localcloud.network.errors import invalid, malformed
from localcloud.network.model import checks
from localcloud.network.model.checks import Check
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find
from localcloud.network.objects import router_interfaces, trunks
from localcloud.network.objects.kinds import OPERATIONS
from localcloud.network.service import NetworkService
from localcloud.web.http import RequestContext, context, read_json, route

# Changes an object as a body says; returns the body of the answer.
Verb = Callable[[State, RequestContext, Document, Document], Document]


class ActionRoutes:
    """Routes of the verbs."""

    def __init__(self, service: NetworkService) -> None:
        self._state = service.state
        self._flush = service.declarer.flush

    def routes(self) -> list[BaseRoute]:
        """Return the routes below the prefix."""
        routers, groups, trunk_crud = (
            Crud(self._state, OPERATIONS[c]) for c in ("routers", "address_groups", "trunks")
        )
        return [
            self._route(routers, "add_router_interface", router_interfaces.add),
            self._route(routers, "remove_router_interface", router_interfaces.remove),
            self._route(routers, "add_extraroutes", _on_list(routers, "routes", _routes, _with)),
            self._route(
                routers, "remove_extraroutes", _on_list(routers, "routes", _routes, _without)
            ),
            self._route(groups, "add_addresses", _on_list(groups, "addresses", _addresses, _with)),
            self._route(
                groups, "remove_addresses", _on_list(groups, "addresses", _addresses, _without)
            ),
            self._route(trunk_crud, "add_subports", _shown(trunk_crud, trunks.add_subports)),
            self._route(trunk_crud, "remove_subports", _shown(trunk_crud, trunks.remove_subports)),
            route("GET", f"/v2.0{trunk_crud.resource.path}/{{id}}/get_subports", self._subports),
        ]

    async def _subports(self, request: Request) -> Document:
        key = request.path_params["id"]
        trunk = find(self._state, context(request), trunks.KIND, key)
        return {"sub_ports": trunk["sub_ports"]}

    def _route(self, crud: Crud, name: str, verb: Verb) -> Route:
        kind = crud.resource.kind

        async def handle(request: Request) -> Document:
            body, caller = await read_json(request), context(request)
            with self._state.change():
                document = find(self._state, caller, kind, request.path_params["id"])
                answer = verb(self._state, caller, document, body)
            await self._flush()
            return answer

        return route("PUT", f"/v2.0{crud.resource.path}/{{id}}/{name}", handle)


def _on_list(
    crud: Crud,
    field: str,
    given: Callable[[Document], list[Any]],
    combine: Callable[[list[Any], list[Any]], list[Any]],
) -> Verb:
    """Return the verb that changes a list of an object by the items that a body gives."""
    return lambda _, caller, document, body: crud.change(
        caller, document, {field: combine(document[field], given(body))}
    )


def _shown(crud: Crud, verb: Verb) -> Verb:
    """Return the verb with the object, as it is shown, as the whole answer."""
    return lambda state, caller, document, body: crud.shown(
        caller, verb(state, caller, document, body)
    )


def _with(present: list[Any], given: list[Any]) -> list[Any]:
    return [*present, *(item for item in given if item not in present)]


def _without(present: list[Any], given: list[Any]) -> list[Any]:
    return [item for item in present if item not in given]


def _routes(body: Document) -> list[Any]:
    router = body.get("router")
    if not isinstance(router, dict) or set(router) != {"routes"}:
        raise malformed("The body must be an object 'router' with 'routes' alone.")
    return _checked("routes", checks.routes, router["routes"])


def _addresses(body: Document) -> list[Any]:
    if "addresses" not in body:
        raise malformed("The body must have 'addresses'.")
    return _checked("addresses", checks.list_of(checks.prefix), body["addresses"])


def _checked(field: str, check: Check, value: Any) -> list[Any]:
    try:
        items: list[Any] = check(value)
    except ValueError as error:
        raise invalid(f"Invalid value for {field}: {error}.") from None
    return items
