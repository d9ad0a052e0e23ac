"""Create, show, list, update and delete, the same way for all kinds of objects."""

import re
from collections.abc import Iterator
from typing import Any

from starlette.datastructures import QueryParams

from localcloud.http import ApiError, RequestContext
from localcloud.network import security_groups
from localcloud.network.attributes import for_create, for_update
from localcloud.network.errors import malformed
from localcloud.network.listing import answer, filters, select
from localcloud.network.operations import Operations
from localcloud.network.state import State
from localcloud.network.visibility import find, require_writer, sees
from localcloud.store import Document

_INDEXED = (
    "id",
    "port_id",
    "device_id",
    "security_group_id",
    "floating_ip_address",
    "router_id",
    "network_id",
    "floating_network_id",
    "project_id",
)
_REVISION = re.compile(r"revision_number=(\d+)")
_BULK_LIMIT = 1000


def shown(
    state: State, context: RequestContext, operations: Operations, document: Document
) -> Document:
    """Return the object as the caller sees it."""
    full = {
        **document,
        **operations.view(state, context, document),
        "tenant_id": document["project_id"],
    }
    return {
        name: full[name]
        for name, attribute in operations.resource.attributes.items()
        if name in full and (context.is_admin or not attribute.hidden)
    }


def create(
    state: State, context: RequestContext, operations: Operations, body: dict[str, Any]
) -> dict[str, Any]:
    """Make the object, or all objects, of a body; returns the body of the answer."""
    resource = operations.resource
    require_writer(context, f"create_{resource.kind}")
    if resource.kind in body:
        with state.change():
            values = for_create(resource, context, body[resource.kind])
            made = operations.create(state, context, values)
        return {resource.kind: shown(state, context, operations, made)}
    items = body.get(resource.collection)
    if not isinstance(items, list) or not items:
        raise malformed(f"The body must have '{resource.kind}' or '{resource.collection}'.")
    if len(items) > _BULK_LIMIT:
        raise malformed(f"One request creates {_BULK_LIMIT} objects at most.")
    with state.change():
        all_made = [
            operations.create(state, context, for_create(resource, context, item)) for item in items
        ]
    return {resource.collection: [shown(state, context, operations, made) for made in all_made]}


def show(
    state: State,
    context: RequestContext,
    operations: Operations,
    object_id: str,
    query: QueryParams,
) -> dict[str, Any]:
    """Return one object, or the fields of it that the query names."""
    kind = operations.resource.kind
    document = shown(state, context, operations, find(state, context, kind, object_id))
    names = query.getlist("fields")
    return {kind: {n: v for n, v in document.items() if not names or n in names}}


def _candidates(
    state: State, operations: Operations, wanted: dict[str, list[str]]
) -> Iterator[Document]:
    """Yield the documents that the filters leave, as far as an index tells."""
    collection = state.all(operations.resource.kind)
    for name in _INDEXED:
        if name in wanted and name in operations.resource.attributes:
            for value in dict.fromkeys(wanted[name]):
                yield from (
                    collection.find(**{name: value or None})
                    if name != "id"
                    else filter(None, [collection.get(value)])
                )
            return
    yield from collection.values()


def _named(document: Document, wanted: dict[str, list[str]]) -> bool:
    return "name" not in wanted or document.get("name") in wanted["name"]


def listed(
    state: State, context: RequestContext, operations: Operations, query: QueryParams, url: str
) -> dict[str, Any]:
    """Return the body of a list of what the caller sees and the query asks for."""
    kind = operations.resource.kind
    if kind == security_groups.KIND and context.project_id is not None:
        with state.change():
            security_groups.ensure_default(state, context.project_id)
    wanted = filters(query)
    visible = (
        shown(state, context, operations, document)
        for document in _candidates(state, operations, wanted)
        if _named(document, wanted) and sees(state, context, kind, document)
    )
    return answer(operations.resource, select(operations.resource, visible, query), query, url)


def _require_revision(document: Document, if_match: str | None) -> None:
    if if_match is None:
        return
    found = _REVISION.fullmatch(if_match.strip().strip('"'))
    if found is None:
        raise malformed("If-Match must be revision_number=N.")
    if int(found.group(1)) != document["revision_number"]:
        raise ApiError(
            f"The revision is {document['revision_number']} by now.",
            status=412,
            type="RevisionNumberConstraintFailed",
        )


def update(
    state: State,
    context: RequestContext,
    operations: Operations,
    object_id: str,
    body: dict[str, Any],
    if_match: str | None,
) -> dict[str, Any]:
    """Change an object as the body says; returns the body of the answer."""
    resource = operations.resource
    require_writer(context, f"update_{resource.kind}")
    if resource.kind not in body:
        raise malformed(f"The body must have '{resource.kind}'.")
    document = find(state, context, resource.kind, object_id)
    _require_revision(document, if_match)
    with state.change():
        changes = for_update(resource, context, body[resource.kind])
        changed = operations.update(state, context, document, changes)
    return {resource.kind: shown(state, context, operations, changed)}


def delete(
    state: State,
    context: RequestContext,
    operations: Operations,
    object_id: str,
    if_match: str | None,
) -> None:
    """Remove an object."""
    kind = operations.resource.kind
    require_writer(context, f"delete_{kind}")
    document = find(state, context, kind, object_id)
    _require_revision(document, if_match)
    with state.change():
        operations.delete(state, context, document)
