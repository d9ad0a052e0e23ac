"""The tags of an object as a resource of their own."""

from typing import Any

from localcloud.http import RequestContext
from localcloud.network import checks
from localcloud.network.errors import invalid, malformed, not_found
from localcloud.network.state import State
from localcloud.network.visibility import find, require_owner, require_writer
from localcloud.store import Document


def _object(state: State, context: RequestContext, kind: str, object_id: str) -> Document:
    require_writer(context, f"update_{kind}:tags")
    document = find(state, context, kind, object_id)
    require_owner(context, document, f"update_{kind}:tags")
    return document


def _put(state: State, kind: str, document: Document, tags: Any) -> list[str]:
    try:
        checked: list[str] = checks.tags(tags)
    except ValueError as error:
        raise invalid(f"Invalid value for tags: {error}.") from None
    if checked != document["tags"]:
        state.update(kind, document, {"tags": checked})
    return checked


def _from_body(body: dict[str, Any]) -> list[Any]:
    tags = body.get("tags")
    if not isinstance(tags, list):
        raise malformed("The body must have a list 'tags'.")
    return list(dict.fromkeys(str(tag) if isinstance(tag, int) else tag for tag in tags))


def replace(
    state: State, context: RequestContext, kind: str, object_id: str, body: dict[str, Any]
) -> list[str]:
    """Make the body's tags those of the object; returns them."""
    return _put(state, kind, _object(state, context, kind, object_id), _from_body(body))


def extend(
    state: State, context: RequestContext, kind: str, object_id: str, body: dict[str, Any]
) -> list[str]:
    """Add the body's tags to those of the object; returns all."""
    document = _object(state, context, kind, object_id)
    return _put(state, kind, document, list(dict.fromkeys([*document["tags"], *_from_body(body)])))


def clear(state: State, context: RequestContext, kind: str, object_id: str) -> None:
    """Take all tags off the object."""
    _put(state, kind, _object(state, context, kind, object_id), [])


def add(state: State, context: RequestContext, kind: str, object_id: str, tag: str) -> None:
    """Add one tag."""
    document = _object(state, context, kind, object_id)
    _put(state, kind, document, list(dict.fromkeys([*document["tags"], tag])))


def remove(state: State, context: RequestContext, kind: str, object_id: str, tag: str) -> None:
    """Take one tag off; raises the API's 404 where the object does not have it."""
    document = _object(state, context, kind, object_id)
    require(document, tag)
    _put(state, kind, document, [one for one in document["tags"] if one != tag])


def require(document: Document, tag: str) -> None:
    """Raise the API's 404 where the object does not have the tag."""
    if tag not in document["tags"]:
        raise not_found("tag", tag)
