"""The requests on orders for keys."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.key_manager.api import access, quotas
from localcloud.key_manager.api.listing import paged
from localcloud.key_manager.jobs import OrderJobs
from localcloud.key_manager.model import schemas
from localcloud.key_manager.model.new_secret import checked
from localcloud.key_manager.model.schemas import SchemaError
from localcloud.key_manager.model.state import State
from localcloud.web.http import (
    BadRequestError,
    MethodNotAllowedError,
    NotFoundError,
    context,
    route,
)

_WORDS = {"key": "key", "asymmetric": "asymmetric key"}


class Orders:
    """The requests on orders."""

    def __init__(self, state: State, jobs: OrderJobs) -> None:
        self._state = state
        self._jobs = jobs

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            route("GET", "/v1/orders", self._list),
            route("POST", "/v1/orders", self._create),
            route("PUT", "/v1/orders", self._refuse_update),
            route("GET", "/v1/orders/{id}", self._show),
            route("DELETE", "/v1/orders/{id}", self._delete),
        ]

    async def _list(self, request: Request) -> Document:
        project = access.is_member(context(request), "Order(s) retrieval")
        found = list(self._state.orders.find(project_id=project))
        where = self._state.ref("orders", "").rstrip("/")
        return paged(request, found, self._shown, "orders", where)

    async def _create(self, request: Request) -> Response:
        who = context(request)
        project = access.is_member(who, "Order creation")
        content = await schemas.read(request, schemas.ORDER, "Order")
        meta = _checked_meta(self._state, content["type"], content["meta"])
        quotas.check(self._state, project, "orders", "Order creation")
        order = self._state.new(who, type=content["type"], meta=meta, made={}, fault={})
        order["status"] = "PENDING"
        self._state.orders.put(order)
        self._jobs.start(order)
        ref = self._state.ref("orders", order["id"])
        return JSONResponse({"order_ref": ref}, 202, {"Location": ref})

    async def _refuse_update(self, request: Request) -> None:
        raise MethodNotAllowedError("Order update is not supported.")

    async def _show(self, request: Request) -> Document:
        order = self._found(request, "Order retrieval")
        await self._jobs.soon(order["id"])
        return self._shown(self._state.orders.get(order["id"]) or order)

    async def _delete(self, request: Request) -> None:
        self._state.orders.delete(self._found(request, "Order deletion")["id"])

    def _found(self, request: Request, operation: str) -> Document:
        project = access.is_member(context(request), operation)
        found = self._state.orders.get(request.path_params["id"])
        if found is None or found["project_id"] != project:
            raise NotFoundError("Order not found.")
        return found

    def _shown(self, order: Document) -> Document:
        names = ("created", "updated", "status", "type", "meta", "creator_id")
        made = {f"{kind}_ref": self._state.ref(f"{kind}s", i) for kind, i in order["made"].items()}
        ref = self._state.ref("orders", order["id"])
        return {**{n: order[n] for n in names}, "order_ref": ref, **made, **order["fault"]}


def _checked_meta(state: State, kind: str, meta: Document) -> Document:
    said = checked(state, meta, "Order")
    if "payload" in said:
        raise SchemaError("Order", f"'payload' not allowed for {kind} type order", "meta")
    for name in ("algorithm", "bit_length"):
        if not said.get(name):
            reason = f"'{name}' is required field for {_WORDS[kind]} type order"
            raise SchemaError("Order", reason, "meta")
    if not isinstance(said.get("passphrase", ""), str):
        raise BadRequestError("Provided field value is not supported")
    if said["bit_length"] % 8 and said["algorithm"].lower() != "ec":
        raise BadRequestError("Provided field value is not supported")
    return said
