"""One request to the block storage API, and how a handler becomes a route.

A handler is a function from a :class:`Call` to an answer. Where its path names a volume, a
snapshot, a backup, a type or an attachment, it gets that, which the caller may see, as well.
"""

from collections.abc import Iterable
from typing import Any

from localcloud.block_storage.api.fields import allowed, mapping
from localcloud.block_storage.context import ServiceContext
from localcloud.block_storage.model import volume_types
from localcloud.block_storage.model.state import State
from localcloud.block_storage.service import BlockStorageService
from localcloud.core.store import Document
from localcloud.web.api_request import ApiCall
from localcloud.web.http import BadRequestError, PageQuery, page
from localcloud.web.microversions import BLOCK_STORAGE, Microversion


class Call(ApiCall[BlockStorageService], frozen=True):
    """A request with everything that its handler needs."""

    base = "/v3"
    versions = BLOCK_STORAGE
    subjects = {
        "volume_id": State.volume,
        "snapshot_id": State.snapshot,
        "backup_id": State.backup,
        "attachment_id": State.attachment,
        "type_id": volume_types.find,
    }

    version: Microversion

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

    @property
    def project_path(self) -> str:
        """The part of links between the version and the path of an object."""
        return f"/{self.context.project_id}"

    async def subject(self, name: str) -> Document:
        """Return the object that the path names. A GET waits a moment for work on it."""
        if self.request.method == "GET":
            await self.tools.work.soon(self.argument(name))
        return await super().subject(name)

    def everybodys(self) -> bool:
        """Return whether an administrator asks for the objects of all projects."""
        return self.context.is_admin and self.flag("all_tenants")

    def mine(self, found: Iterable[Document]) -> list[Document]:
        """Return the objects that the caller may see and the query matches, newest first."""
        asked = self.request.query_params
        project = asked.get("project_id") if self.everybodys() else self.context.project_id
        shown = [each for each in found if project is None or each["project_id"] == project]
        for key in ("status", "name", "volume_id", "snapshot_id", "id"):
            if key in asked:
                shown = [each for each in shown if str(each.get(key) or "") == asked[key]]
        return shown[::-1]

    def paged(self, found: list[Document], path: str, plural: str) -> tuple[list[Document], Any]:
        """Return the requested page, and the members of the response that lead to the next one."""
        asked = PageQuery.parse(self.request.query_params, "desc")
        offset = self.query("offset") or "0"
        chosen = page(found[int(offset) if offset.isdecimal() else 0 :], asked)
        more: dict[str, Any] = {}
        if chosen.more and chosen.items:
            more[f"{plural}_links"] = self.next_link(path, chosen.items[-1]["id"])
        if self.version.since(45) and self.flag("with_count"):
            more["count"] = len(found)
        return chosen.items, more
