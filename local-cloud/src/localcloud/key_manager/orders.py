"""Orders: keys that the key manager makes, after it has answered."""

import asyncio
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.key_manager import access, keys, quotas, schemas
from localcloud.key_manager.listing import paged
from localcloud.key_manager.new_secret import checked, described
from localcloud.key_manager.payloads import BINARY, PayloadCipher, normalized
from localcloud.key_manager.schemas import SchemaError
from localcloud.key_manager.state import State
from localcloud.web.http import (
    BadRequestError,
    MethodNotAllowedError,
    NotFoundError,
    context,
    route,
)

_WORDS = {"key": "key", "asymmetric": "asymmetric key"}
_UNKNOWN = {
    "error_status_code": "400",
    "error_reason": "Process TypeOrder issue seen - Secret generate supported plugin not found..",
}
_FAILED = {
    "error_status_code": "500",
    "error_reason": "Process TypeOrder failure seen - please contact site administrator.",
}


class Orders:
    """The requests on orders, and the work behind them.

    An order that is pending is the durable intent: it is carried out after a restart as well, and
    its keys and itself become one write.
    """

    def __init__(self, state: State, seal: PayloadCipher, work: Work) -> None:
        self._state = state
        self._seal = seal
        self._work = work

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            route("GET", "/v1/orders", self._list),
            route("POST", "/v1/orders", self._create),
            route("PUT", "/v1/orders", self._refuse_update),
            route("GET", "/v1/orders/{id}", self._show),
            route("DELETE", "/v1/orders/{id}", self._delete),
        ]

    def resume(self) -> None:
        """Take up what the last process left."""
        for order in list(self._state.orders.find(status="PENDING")):
            self._begin(order)

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
        self._begin(order)
        ref = self._state.ref("orders", order["id"])
        return JSONResponse({"order_ref": ref}, 202, {"Location": ref})

    async def _refuse_update(self, request: Request) -> None:
        raise MethodNotAllowedError("Order update is not supported.")

    async def _show(self, request: Request) -> Document:
        order = self._found(request, "Order retrieval")
        await self._work.soon(order["id"])
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

    def _begin(self, order: Document) -> None:
        self._work.begin(order["id"], partial(self._carry_out, order))

    async def _carry_out(self, order: Document) -> None:
        meta = order["meta"]
        algorithm, bits = str(meta["algorithm"]), int(meta["bit_length"])
        if not keys.can_make(order["type"], algorithm, bits, meta.get("mode")):
            self._end(order, status="ERROR", fault=_UNKNOWN)
        elif order["type"] == "key":
            secret = self._secret(order, "symmetric", keys.symmetric(bits))
            with self._state.cloud.store.transaction():
                self._state.secrets.put(secret)
                self._end(order, status="ACTIVE", made={"secret": secret["id"]})
        else:
            await self._make_pair(order, algorithm, bits)

    async def _make_pair(self, order: Document, algorithm: str, bits: int) -> None:
        passphrase = order["meta"].get("passphrase")
        try:
            private, public = await asyncio.to_thread(keys.pair, algorithm, bits, passphrase)
        except ValueError:  # a passphrase that is too long to encrypt with
            self._end(order, status="ERROR", fault=_FAILED)
            return
        parts = {
            "private_key": self._secret(order, "private", private),
            "public_key": self._secret(order, "public", public),
        }
        if passphrase:
            kept = self._secret(order, "passphrase", passphrase.encode())
            parts["private_key_passphrase"] = kept
        refs = [{"name": name, "secret_id": part["id"]} for name, part in parts.items()]
        container = self._made(
            order,
            name=order["meta"]["name"],
            type=algorithm.lower(),
            secrets=refs,
            consumers=[],
            acl={},
        )
        with self._state.cloud.store.transaction():
            for part in parts.values():
                self._state.secrets.put(part)
            self._state.containers.put(container)
            self._end(order, status="ACTIVE", made={"container": container["id"]})

    def _secret(self, order: Document, kind: str, payload: bytes) -> Document:
        meta = order["meta"]
        sealed = self._seal.sealed(order["project_id"], payload)
        content = normalized(meta.get("payload_content_type") or BINARY)
        fields = {**described(meta), "secret_type": kind}
        return self._made(order, **{**fields, "payload": sealed, "content_type": content})

    def _made(self, order: Document, **fields: Any) -> Document:
        return self._state.new_in(order["project_id"], order["creator_id"], **fields)

    def _end(self, order: Document, **changes: Any) -> None:
        if order["id"] in self._state.orders:
            self._state.orders.put({**order, **changes, "updated": self._state.now()})


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
