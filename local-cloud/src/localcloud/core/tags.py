"""The tags of an object as a resource of their own, and lists that are filtered by tags."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.web.http import ApiError, read_json, route

# By the name in the query: whether an object that has these tags passes.
FILTERS: Mapping[str, Callable[[set[str], set[str]], bool]] = {
    "tags": lambda have, asked: asked <= have,
    "tags-any": lambda have, asked: bool(asked & have),
    "not-tags": lambda have, asked: not asked <= have,
    "not-tags-any": lambda have, asked: not asked & have,
}


class Tags(Struct, frozen=True):
    """The requests on the tags of the objects of one kind."""

    path: str  # of the tags of one object; what is special about a service follows
    readable: Callable[[Request], Document]
    # These find the object that the path names, for a caller who may read or change it.
    writable: Callable[[Request], Document]
    # Checks tags, makes them those of the object and returns them, each once.
    put: Callable[[Document, Any], list[str]]
    missing: Callable[[str], ApiError]  # the error for a tag that the object does not have
    shown: Callable[[Document, list[str]], Document] = lambda _, tags: {"tags": tags}

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = f"{self.path}/{{tag:path}}"
        return [
            route("GET", self.path, self._list),
            route("PUT", self.path, self._replace),
            route("DELETE", self.path, self._clear),
            route("GET", one, self._has),
            route("PUT", one, self._add, 201),
            route("DELETE", one, self._remove),
        ]

    async def _list(self, request: Request) -> Document:
        document = self.readable(request)
        return self.shown(document, document["tags"])

    async def _replace(self, request: Request) -> Document:
        body = await read_json(request)
        document = self.writable(request)
        return self.shown(document, self.put(document, body.get("tags")))

    async def _clear(self, request: Request) -> None:
        self.put(self.writable(request), [])

    async def _has(self, request: Request) -> None:
        self._require(self.readable(request), request.path_params["tag"])

    async def _add(self, request: Request) -> None:
        document = self.writable(request)
        self.put(document, [*document["tags"], request.path_params["tag"]])

    async def _remove(self, request: Request) -> None:
        document, tag = self.writable(request), request.path_params["tag"]
        self._require(document, tag)
        self.put(document, [one for one in document["tags"] if one != tag])

    def _require(self, document: Document, tag: str) -> None:
        if tag not in document["tags"]:
            raise self.missing(tag)
