"""Access lists of secrets and containers: further readers, and whether the project may read."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.key_manager.api import access
from localcloud.key_manager.model import schemas
from localcloud.key_manager.model.state import State
from localcloud.web.http import context, route

_WORDS = {"secrets": "SecretACL(s)", "containers": "ContainerACL(s)"}


class AccessLists:
    """The requests on access lists."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            found
            for kind in _WORDS
            for found in (
                route("GET", f"/v1/{kind}/{{id}}/acl", partial(self._show, kind)),
                route("PUT", f"/v1/{kind}/{{id}}/acl", partial(self._set, kind, True)),
                route("PATCH", f"/v1/{kind}/{{id}}/acl", partial(self._set, kind, False)),
                route("DELETE", f"/v1/{kind}/{{id}}/acl", partial(self._delete, kind)),
            )
        ]

    async def _show(self, kind: str, request: Request) -> Document:
        holder = self._holder(kind, request, "retrieval")
        return holder["acl"] or {"read": {"project-access": True}}

    async def _set(self, kind: str, whole: bool, request: Request) -> Document:
        content = await schemas.read(request, schemas.ACL, "ACL")
        holder = self._holder(kind, request, "Update")
        acl: dict[str, Any] = {} if whole else dict(holder["acl"])
        said, now = content.get("read"), self._state.now()
        if said:
            before = holder["acl"].get("read") or {"users": [], "created": now}
            previous = {} if whole else before
            acl["read"] = {
                "project-access": True,
                "users": [],
                **previous,
                **said,
                "created": before["created"],
                "updated": now,
            }
        self._put(kind, {**holder, "acl": acl})
        return {"acl_ref": f"{self._state.ref(kind, holder['id'])}/acl"}

    async def _delete(self, kind: str, request: Request) -> Response:
        self._put(kind, {**self._holder(kind, request, "deletion"), "acl": {}})
        return Response(status_code=200)

    def _holder(self, kind: str, request: Request, operation: str) -> Document:
        find = self._state.secret if kind == "secrets" else self._state.container
        holder = find(request.path_params["id"])
        access.require(access.may_use(context(request), holder), f"{_WORDS[kind]} {operation}")
        return holder

    def _put(self, kind: str, holder: Document) -> None:
        (self._state.secrets if kind == "secrets" else self._state.containers).put(holder)
