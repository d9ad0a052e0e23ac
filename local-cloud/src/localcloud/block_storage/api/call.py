"""One request to the block storage API, and how a handler becomes a route.

A handler is a function from a :class:`Call` to an answer. Where its path names a volume, a
snapshot, a backup, a type or an attachment, it gets that, which the caller may see, as well.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from localcloud.block_storage import kinds
from localcloud.block_storage.fields import allowed, mapping
from localcloud.block_storage.service import BlockStorage
from localcloud.block_storage.state import State
from localcloud.block_storage.tools import ServiceContext
from localcloud.core.store import Document
from localcloud.web.api_request import ApiRequest, Endpoint, versioned_route
from localcloud.web.http import Answer, BadRequestError, PageQuery, RequestContext, page, read_body
from localcloud.web.microversions import BLOCK_STORAGE, Microversion


class Call(ApiRequest, frozen=True):
    """A request with everything that its handler needs."""

    version: Microversion
    service: BlockStorage

    @property
    def tools(self) -> ServiceContext:
        """The parts of the service."""
        return self.service.tools

    @property
    def state(self) -> State:
        """The documents of the service."""
        return self.service.tools.state

    def object(self, key: str, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Return the object that the body wraps under ``key``, with no other fields than these."""
        body = self.body()
        if key not in body:
            raise BadRequestError(f"'{key}' is a required property")
        found = mapping(body[key], key)
        if names is not None:
            allowed(found, set(names), key)
        return found

    def links(self, path: str) -> list[dict[str, str]]:
        """Return the two links that views of an object have."""
        url = f"{self.state.cloud.settings.url}/volume"
        project = self.context.project_id
        return [
            {"rel": "self", "href": f"{url}/v3/{project}{path}"},
            {"rel": "bookmark", "href": f"{url}/{project}{path}"},
        ]

    def everybodys(self) -> bool:
        """Return whether an administrator asks for what all projects have."""
        return self.context.is_admin and self.flag("all_tenants")

    def mine(self, found: Iterable[Document]) -> list[Document]:
        """Return what the caller sees in a list, narrowed as the query asks, newest first."""
        asked = self.request.query_params
        project = asked.get("project_id") if self.everybodys() else self.context.project_id
        shown = [each for each in found if project is None or each["project_id"] == project]
        for key in ("status", "name", "volume_id", "snapshot_id", "id"):
            if key in asked:
                shown = [each for each in shown if str(each.get(key) or "") == asked[key]]
        return shown[::-1]

    def paged(self, found: list[Document], path: str, plural: str) -> tuple[list[Document], Any]:
        """Return the page that is asked for, and what the answer says about the next."""
        asked = PageQuery.parse(self.request.query_params, "desc")
        offset = self.query("offset") or "0"
        chosen = page(found[int(offset) if offset.isdecimal() else 0 :], asked)
        more: dict[str, Any] = {}
        if chosen.more and chosen.items:
            url = self.request.url.include_query_params(marker=chosen.items[-1]["id"])
            href = f"{self.links(path)[0]['href']}?{url.query}"
            more[f"{plural}_links"] = [{"rel": "next", "href": href}]
        if self.version.since(45) and self.flag("with_count"):
            more["count"] = len(found)
        return chosen.items, more


_SUBJECTS: Mapping[str, Callable[[State, RequestContext, str], Document]] = {
    "volume_id": State.volume,
    "snapshot_id": State.snapshot,
    "backup_id": State.backup,
    "attachment_id": State.attachment,
    "type_id": kinds.find,
}
"""Finders of the objects that a path names, by part of the path; each raises NotFoundError."""


def endpoint_route(endpoint: Endpoint, service: BlockStorage) -> Route:
    """Return the route of an endpoint, below ``/v3``."""
    subject = next((key for key in _SUBJECTS if f"{{{key}}}" in endpoint.path), None)

    async def handle(request: Request, caller: RequestContext, version: Microversion) -> Answer:
        call = Call(request, caller, await read_body(request), version, service)
        if subject is None:
            return await endpoint.handler(call)
        object_id = call.argument(subject)
        if endpoint.method == "GET":
            await call.tools.work.soon(object_id)
        return await endpoint.handler(call, _SUBJECTS[subject](call.state, caller, object_id))

    return versioned_route("/v3", endpoint, BLOCK_STORAGE, handle)


def single(body: dict[str, Any]) -> tuple[str, Any]:
    """Return the only key of an action body and its value."""
    if len(body) != 1:
        raise BadRequestError("Malformed request body")
    return next(iter(body.items()))
