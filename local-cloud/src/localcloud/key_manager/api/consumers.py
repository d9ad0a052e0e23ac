"""Consumers: users that have registered for a secret or a container."""

from functools import partial
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Collection, Document
from localcloud.key_manager.api import access, quotas
from localcloud.key_manager.api.containers import container_view
from localcloud.key_manager.api.listing import paged
from localcloud.key_manager.api.secrets import secret_view
from localcloud.key_manager.model import schemas
from localcloud.key_manager.model.state import State
from localcloud.web.http import ForbiddenError, Handler, NotFoundError, context, route


class _Kind(Struct, frozen=True):
    """A kind of object that has consumers."""

    name: str  # as addresses have it
    word: str  # as messages have it
    fields: tuple[str, ...]
    schema: dict[str, Any]
    schema_name: str


_KINDS = (
    _Kind(
        "secrets",
        "SecretConsumer",
        ("service", "resource_type", "resource_id"),
        schemas.SECRET_CONSUMER,
        "Secret Consumer",
    ),
    _Kind(
        "containers",
        "ContainerConsumer",
        ("name", "URL"),
        schemas.CONTAINER_CONSUMER,
        "Consumer",
    ),
)


class Consumers:
    """The requests on consumers."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        made: list[BaseRoute] = []
        for kind in _KINDS:
            path = f"/v1/{kind.name}/{{id}}/consumers"
            handlers: dict[str, Handler] = {
                "GET": partial(self._list, kind),
                "POST": partial(self._add, kind),
                "DELETE": partial(self._remove, kind),
            }
            made += [route(method, path, handler) for method, handler in handlers.items()]
        return made

    async def _list(self, kind: _Kind, request: Request) -> Document:
        holder = self._holder(kind, request)
        access.require(access.may_see(context(request), holder), f"{kind.word}s(s) retrieval")
        where = f"{self._state.ref(kind.name, holder['id'])}/consumers"

        def shown(consumer: Document) -> Document:
            times = {"created": consumer["created"], "updated": consumer["created"]}
            return {**times, "status": "ACTIVE", **{k: consumer[k] for k in kind.fields}}

        return paged(request, holder["consumers"], shown, "consumers", where)

    async def _add(self, kind: _Kind, request: Request) -> Response:
        who, operation = context(request), f"{kind.word} creation"
        content = await schemas.read(request, kind.schema, kind.schema_name)
        holder = self._holder(kind, request)
        access.require(access.may_read(who, holder), operation)
        project = who.require_project()
        said = {field: content[field] for field in kind.fields}
        if not any(_is(consumer, said) for consumer in holder["consumers"]):
            quotas.check(self._state, project, "consumers", operation)
            consumer = {**said, "project_id": project, "created": self._state.now()}
            holder = {**holder, "consumers": [*holder["consumers"], consumer]}
            self._collection(kind).put(holder)
        where = f"{self._state.ref('consumers', holder['id'])}/consumers"
        return JSONResponse(self._shown(kind, holder), 200, {"Location": where})

    async def _remove(self, kind: _Kind, request: Request) -> Document:
        who = context(request)
        content = await schemas.read(request, kind.schema, kind.schema_name)
        holder = self._holder(kind, request)
        access.require(access.may_read(who, holder), f"{kind.word} deletion")
        said = {field: content[field] for field in kind.fields}
        found = next((each for each in holder["consumers"] if _is(each, said)), None)
        if found is None:
            raise NotFoundError("Consumer not found.")
        if who.project_id not in (found["project_id"], holder["project_id"]):
            raise ForbiddenError(
                "Not Allowed. Sorry, only the creator of a consumer can delete it."
            )
        remaining = [each for each in holder["consumers"] if each is not found]
        holder = {**holder, "consumers": remaining}
        self._collection(kind).put(holder)
        return self._shown(kind, holder)

    def _holder(self, kind: _Kind, request: Request) -> Document:
        find = self._state.secret if kind.name == "secrets" else self._state.container
        return find(request.path_params["id"])

    def _collection(self, kind: _Kind) -> Collection:
        return self._state.secrets if kind.name == "secrets" else self._state.containers

    def _shown(self, kind: _Kind, holder: Document) -> Document:
        view = secret_view if kind.name == "secrets" else container_view
        return view(self._state, holder)


def _is(consumer: Document, said: Document) -> bool:
    return all(consumer[name] == value for name, value in said.items())
