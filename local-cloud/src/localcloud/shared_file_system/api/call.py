"""One request to the API of shared file systems, and how a handler becomes a route.

A handler is a function from a :class:`Call` to an answer. Where its path names a share, a snapshot
or the like, it gets that, which the caller may see, as well.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from localcloud.core.clock import micro
from localcloud.core.store import Document
from localcloud.shared_file_system.api import fields
from localcloud.shared_file_system.context import ServiceContext
from localcloud.shared_file_system.instance import SharedFileSystems
from localcloud.shared_file_system.model import share_types
from localcloud.shared_file_system.model.state import State, found, missing, owned
from localcloud.web.api_request import ApiCall
from localcloud.web.http import (
    BadRequestError,
    ForbiddenError,
    RequestContext,
    boolean,
)
from localcloud.web.microversions import SHARED_FILE_SYSTEM, Microversion

_MOST = 1000
_LIKE = "~"


def moment(text: str | None) -> str | None:
    """Return a time of documents as this API shows it."""
    return micro(text)


def denied() -> ForbiddenError:
    """Return the error for an operation that other callers may perform."""
    return ForbiddenError("Access was denied to this resource.")


def _share(state: State, who: RequestContext, share_id: str) -> Document:
    share = state.shares.get(share_id)
    if share is not None and (owned(who, share) or share["is_public"]):
        return share
    raise missing()


def _own(name: str, message: str = "") -> Callable[[State, RequestContext, str], Document]:
    def find(state: State, who: RequestContext, object_id: str) -> Document:
        error = missing(message.format(object_id)) if message else missing()
        return found(getattr(state, name), who, object_id, error)

    return find


class Call(ApiCall[SharedFileSystems], frozen=True):
    """A request with everything that its handler needs."""

    base = "/v2"
    versions = SHARED_FILE_SYSTEM
    subjects = {
        "share_id": _share,
        "snapshot_id": _own("snapshots"),
        "type_id": share_types.find,
        "share_network_id": _own("networks", "Share network {} could not be found."),
        "security_service_id": _own("security_services"),
        "server_id": _own("servers", "Share server {} could not be found."),
        "message_id": _own("messages", "Message {} could not be found."),
        "lock_id": _own("locks", "Resource lock {} could not be found."),
        "transfer_id": _own("transfers", "Transfer {} could not be found."),
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

    def object(self, name: str) -> dict[str, Any]:
        """Return the object that the body wraps under this name."""
        return fields.wrapped(self.body(), name)

    async def subject(self, name: str) -> Document:
        """Return the object that the path names. A GET waits a moment for work on it."""
        reads = self.request.method == "GET"
        if reads:
            await self.tools.work.soon(self.argument(name))
        document = await super().subject(name)
        # Other projects may read a public share, but not change it.
        if name == "share_id" and not reads and not owned(self.context, document):
            raise denied()
        return document

    def action(self, message: str = "Malformed request body") -> tuple[str, dict[str, Any]]:
        """Return the only key of the body and its arguments; raises BadRequestError."""
        name, arguments = super().action(message)
        if arguments is not None and not isinstance(arguments, dict):
            raise BadRequestError(message)
        return name, arguments or {}

    def require_admin(self) -> None:
        """Raise ForbiddenError for everybody but administrators."""
        if not self.context.is_admin:
            raise denied()

    def mine(self, documents: Iterable[Document]) -> list[Document]:
        """Return the objects that the caller may see, newest first."""
        everybodys = self.context.is_admin and self.flag("all_tenants")
        project = self.query("project_id") if everybodys else self.context.project_id
        return [d for d in documents if project is None or d["project_id"] == project][::-1]

    def narrowed(self, documents: Iterable[Document], *names: str) -> list[Document]:
        """Return the documents that the query matches, by exact value or by ``name~``."""
        asked = self.request.query_params
        matching = list(documents)
        for name in names:
            if name in asked:
                matching = [d for d in matching if str(d.get(name)).lower() == asked[name].lower()]
            if name + _LIKE in asked:
                part = asked[name + _LIKE]
                matching = [d for d in matching if part in str(d.get(name) or "")]
        return matching

    def having(self, documents: Iterable[Document], name: str) -> list[Document]:
        """Return the documents whose mapping under this name contains the one in the query."""
        given = self.query(name)
        if given is None:
            return list(documents)
        try:
            # clients send a dictionary of Python
            filters = json.loads(given.replace("'", '"'))
        except ValueError:
            filters = None
        if not isinstance(filters, dict):
            raise BadRequestError(f"Invalid input received: {name} must be a mapping.")
        return [d for d in documents if filters.items() <= d[name].items()]

    def page(
        self, documents: list[Document], path: str, sortable: Iterable[str] = ()
    ) -> tuple[list[Document], Document]:
        """Return the page that is asked for, and the links to the next."""
        ordered = self._sorted(documents, sortable)
        limit, offset = self._number("limit"), self._number("offset") or 0
        ids = [each["id"] for each in ordered]
        marker = self.query("marker")
        first = ids.index(marker) + 1 if marker in ids else offset
        rest = ordered[first:]
        chosen = rest[: _MOST if limit is None else min(limit, _MOST)]
        more: Document = {}
        if len(rest) > len(chosen) and chosen:
            links = f"{path[1:].replace('-', '_')}_links"
            more[links] = self.next_link(path, chosen[-1]["id"])
        return chosen, more

    def _sorted(self, documents: list[Document], sortable: Iterable[str]) -> list[Document]:
        key, direction = self.query("sort_key"), self.query("sort_dir") or "desc"
        if direction not in ("asc", "desc"):
            raise BadRequestError(f"Invalid input received: Wrong sorting direction '{direction}'.")
        if key is None:
            return documents[::-1] if direction == "asc" else documents
        if key not in sortable:
            raise BadRequestError(f"Invalid input received: Wrong sorting key provided - '{key}'.")
        name = {"share_type": "share_type_id", "share_network": "share_network_id"}.get(key, key)
        return sorted(
            documents,
            key=lambda d: (d.get(name) is not None, _sortable(d.get(name))),
            reverse=direction == "desc",
        )

    def _number(self, name: str) -> int | None:
        given = self.query(name)
        if given is None:
            return None
        if not given.removeprefix("-").isdecimal() or len(given) > 10:
            raise BadRequestError(f"{name} param must be an integer")
        if int(given) < 0:
            raise BadRequestError(f"{name} param must be positive")
        return int(given)

    def optional_flag(self, name: str) -> bool | None:
        """Return a boolean of the query, None where it does not matter."""
        given = self.query(name)
        return None if given is None or given.lower() in ("none", "all") else boolean(given)


def _sortable(value: Any) -> tuple[int, Any]:
    return (0, value) if isinstance(value, int | float) else (1, str(value))
