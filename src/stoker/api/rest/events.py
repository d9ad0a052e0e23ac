"""Events of stacks and of resources."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from stoker.api.rest.answers import document_response, list_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import not_found
from stoker.api.rest.links import link
from stoker.api.rest.paging import page_of
from stoker.api.rest.values import query_number, several
from stoker.engine.model.requests import EventQuery
from stoker.engine.model.views import EventView
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import NotFound

_SORT_KEYS = ("event_time", "resource_type")
_FILTERS = ("resource_status", "resource_action", "resource_name", "resource_type")


async def index(call: Call) -> Response:
    """Events of a stack, newest first unless the query says otherwise."""
    return await _list(call, None)


async def index_of_resource(call: Call) -> Response:
    """Events of one resource; there being none is an error (404)."""
    return await _list(call, call.path["resource_name"])


async def show(call: Call) -> Response:
    """One event of a resource, in full."""
    name, event_id = call.path["resource_name"], call.path["event_id"]
    try:
        event = await call.service.views.event(call.caller, call.stack, name, event_id)
    except NotFound as error:
        await call.service.views.stack(call.caller, call.stack, resolve_outputs=False)
        raise not_found(f"No event {event_id} found for the resource {name}.") from error
    full = _summary(call, event)
    full["resource_type"] = event.resource_type
    full["resource_properties"] = event.properties or {}
    return await document_response({"event": full})


async def _list(call: Call, resource_name: str | None) -> Response:
    query = EventQuery(
        page=page_of(call.query, _SORT_KEYS, {}),
        nested_depth=query_number(call.query, "nested_depth") or 0,
        resource_name=resource_name,
        filters={n: several(call.query, n) for n in _FILTERS if n in call.query},
    )
    events = await call.service.views.events(call.caller, call.stack, query)
    if query.page.limit == 0:
        events = ()
    if resource_name is not None and not events:
        raise not_found(f'There are no events of a resource "{resource_name}".')
    return await list_response("events", (_summary(call, event) for event in events))


def _summary(call: Call, event: EventView) -> dict[str, Any]:
    links = [
        link(call.links.event(event.stack, event.resource_name, event.id), "self"),
        link(call.links.resource(event.stack, event.resource_name), "resource"),
        link(call.links.stack(event.stack), "stack"),
    ]
    if event.root_stack is not None:
        links.append(link(call.links.stack(event.root_stack), "root_stack"))
    return {
        "id": event.id,
        "links": links,
        "event_time": isoformat(event.time),
        "resource_name": event.resource_name,
        "logical_resource_id": event.resource_name,
        "physical_resource_id": event.physical_id or "",
        "resource_status": f"{event.action}_{event.status}",
        "resource_status_reason": event.reason,
    }
