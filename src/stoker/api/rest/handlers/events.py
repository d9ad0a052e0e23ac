"""Events of stacks and of resources."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, NotRequired, TypedDict

from starlette.responses import Response, StreamingResponse

from stoker.api.rest.answers import document_response, list_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import not_found
from stoker.api.rest.links import Link, link
from stoker.api.rest.requests.paging import PAGE, page_of
from stoker.api.rest.requests.parameters import Flag, Number, Parameter, Texts
from stoker.engine.model.requests import EventQuery, Page
from stoker.engine.model.views import EventView
from stoker.engine.service.views.event_streams import StreamMessage
from stoker.kernel.clock import isoformat, precise_isoformat
from stoker.kernel.errors import NotFoundError
from stoker.kernel.values import replace

_SORT_KEYS = ("event_time", "resource_type")
_FILTERS = tuple(
    Texts(name, f"Events with this {words}; any of several.")
    for name, words in {
        "resource_status": "status, without the action",
        "resource_action": "action",
        "resource_name": "name of a resource",
        "resource_type": "type of a resource",
    }.items()
)
_NESTED_DEPTH = Number("nested_depth", "How many levels of nested stacks to go down; 0.")
STREAM = "text/event-stream"
UNTIL_END = Flag("until_end", "Whether a stream ends with the operation; false.")
_PRECISE = Flag("precise", "With microseconds in times. Stoker's own.")
LIST_QUERY: tuple[Parameter, ...] = (*PAGE, _NESTED_DEPTH, *_FILTERS, _PRECISE)


class EventRow(TypedDict):
    """An event of a stack or a resource; type and properties for a single one."""

    id: str
    links: list[Link]
    event_time: str
    resource_name: str
    logical_resource_id: str
    physical_resource_id: str | None  # null before the resource has an object
    resource_status: str
    resource_status_reason: str
    resource_type: NotRequired[str]
    resource_properties: NotRequired[Mapping[str, Any]]


class EventList(TypedDict):
    """Events, newest first unless the query says otherwise."""

    events: list[EventRow]


class Event(TypedDict):
    """One event with its properties."""

    event: EventRow


async def index(call: Call) -> Response:
    """List the events of a stack, newest first unless the query says otherwise.

    A client that accepts ``text/event-stream`` gets them as they happen, oldest first.
    """
    if STREAM in call.headers.get("accept", ""):
        return await _stream(call)
    return await _list(call, None)


async def _stream(call: Call) -> Response:
    """Return server-sent events: one for each event, and ``end`` at the end if requested."""
    marker = call.headers.get("last-event-id") or call.query.get("marker")
    query = replace(_query(call, None), page=Page(marker=marker or None))
    following = call.service.event_streams.follow(
        call.caller, call.stack, query, until_end=UNTIL_END.read(call.query)
    )
    first = await anext(following)  # an error is a response of its own, not part of a stream

    async def written() -> AsyncIterator[str]:
        yield _encoded(call, first)
        async for message in following:
            yield _encoded(call, message)

    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(written(), headers=headers, media_type=STREAM)


def _encoded(call: Call, message: StreamMessage) -> str:
    """Return a message of a stream as a server-sent event."""
    if message.end is not None:
        status = f"{message.end.action}_{message.end.status}"
        end = {"stack_status": status, "stack_status_reason": message.end.reason}
        return f"event: end\ndata: {json.dumps(end)}\n\n"
    written = []
    for event in message.events:
        row = {**_summary(call, event), "resource_type": event.resource_type}
        written.append(f"id: {event.id}\nevent: event\ndata: {json.dumps(row)}\n\n")
    return "".join(written) or ":\n\n"


async def index_of_resource(call: Call) -> Response:
    """List the events of one resource; an error (404) if there are none."""
    return await _list(call, call.path["resource_name"])


async def show(call: Call) -> Response:
    """Show one event of a resource."""
    name, event_id = call.path["resource_name"], call.path["event_id"]
    try:
        event = await call.service.views.event(call.caller, call.stack, name, event_id)
    except NotFoundError as error:
        await call.service.views.stack(call.caller, call.stack, resolve_outputs=False)
        raise not_found(f"No event {event_id} found for the resource {name}.") from error
    full = _summary(call, event)
    full["resource_type"] = event.resource_type
    full["resource_properties"] = event.properties or {}
    return await document_response(call.api.compute, {"event": full})


def _query(call: Call, resource_name: str | None) -> EventQuery:
    return EventQuery(
        page=page_of(call.query, _SORT_KEYS, {}),
        nested_depth=_NESTED_DEPTH.read(call.query) or 0,
        resource_name=resource_name,
        filters={f.name: f.read(call.query) for f in _FILTERS if f.name in call.query},
    )


async def _list(call: Call, resource_name: str | None) -> Response:
    query = _query(call, resource_name)
    events = await call.service.views.events(call.caller, call.stack, query)
    if query.page.limit == 0:
        events = ()
    if resource_name is not None and not events:
        raise not_found(f'There are no events of a resource "{resource_name}".')
    return await list_response(
        call.api.compute, "events", (_summary(call, event) for event in events)
    )


def _summary(call: Call, event: EventView) -> EventRow:
    links = [
        link(call.links.event(event.stack, event.resource_name, event.id), "self"),
        link(call.links.resource(event.stack, event.resource_name), "resource"),
        link(call.links.stack(event.stack), "stack"),
    ]
    if event.root_stack is not None:
        links.append(link(call.links.stack(event.root_stack), "root_stack"))
    written = precise_isoformat if _PRECISE.read(call.query) else isoformat
    return {
        "id": event.id,
        "links": links,
        "event_time": written(event.time),
        "resource_name": event.resource_name,
        "logical_resource_id": event.resource_name,
        "physical_resource_id": event.physical_id,
        "resource_status": f"{event.action}_{event.status}",
        "resource_status_reason": event.reason,
    }
