"""The tags of the objects of the network API."""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.core.tags import Tags
from localcloud.network.errors import invalid, malformed, not_found
from localcloud.network.model import checks
from localcloud.network.model.attributes import Resource
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, require_owner
from localcloud.web.http import context, read_json, route

_text = checks.text(255)


def tag_routes(state: State, resource: Resource) -> list[BaseRoute]:
    """Return the routes of the tags of one kind of object."""
    kind, path = resource.kind, f"/v2.0{resource.path}/{{id}}/tags"

    def readable(request: Request) -> Document:
        return find(state, context(request), kind, request.path_params["id"])

    def writable(request: Request) -> Document:
        document = readable(request)
        require_owner(context(request), document, f"update_{kind}:tags")
        return document

    def put(document: Document, tags: Any) -> list[str]:
        checked = _checked(tags)
        if checked != document["tags"]:
            state.update(kind, document, {"tags": checked})
        return checked

    async def extend(request: Request) -> Document:
        body, document = await read_json(request), writable(request)
        return {"tags": put(document, [*document["tags"], *_listed(body.get("tags"))])}

    tags = Tags(path, readable, writable, put, partial(not_found, "tag"))
    return [*tags.routes(), route("POST", path, extend, 201)]


def _listed(tags: Any) -> list[Any]:
    if not isinstance(tags, list):
        raise malformed("The body must have a list 'tags'.")
    return tags


def _checked(tags: Any) -> list[str]:
    try:
        texts = [_text(str(tag) if isinstance(tag, int) else tag) for tag in _listed(tags)]
        checked: list[str] = checks.tags(list(dict.fromkeys(texts)))
    except ValueError as error:
        raise invalid(f"Invalid value for tags: {error}.") from None
    return checked
