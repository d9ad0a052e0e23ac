"""Resources of stacks: lists, single ones, metadata, signals, marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import document_response, json_response, list_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.links import Link, link
from stoker.api.rest.requests.parameters import Flag, Number, Parameter, Texts
from stoker.api.rest.requests.values import flag, optional_text
from stoker.engine.model.requests import ResourceQuery
from stoker.engine.model.views import ResourceView
from stoker.kernel.clock import isoformat

_MOST_LINES, _USUAL_LINES = 1000, 100
LINES = Number("lines", f"The last lines; {_USUAL_LINES} by default, {_MOST_LINES} at most.")
_FILTERS = tuple(
    Texts(name, f"Resources with this {words}; any of several.")
    for name, words in {
        "type": "type",
        "status": "status, without the action",
        "name": "name",
        "action": "last action",
        "id": "number, which is Stoker's own",
        "physical_resource_id": "id in the cloud",
    }.items()
)
_NESTED_DEPTH = Number("nested_depth", "How many levels of nested stacks to go down; 0.")
_WITH_DETAIL = Flag("with_detail", "With descriptions and attributes.")
LIST_QUERY: tuple[Parameter, ...] = (*_FILTERS, _NESTED_DEPTH, _WITH_DETAIL)
WITH_ATTR = Texts("with_attr", "Attributes to compute in addition to those that are shown anyway.")
_MARK = "mark_unhealthy"
_REASON = "resource_status_reason"


class ResourceRow(TypedDict):
    """A resource in a list."""

    resource_name: str
    logical_resource_id: str
    physical_resource_id: str
    resource_type: str
    resource_status: str
    resource_status_reason: str
    creation_time: str
    updated_time: str
    required_by: tuple[str, ...]
    links: list[Link]
    parent_resource: NotRequired[str]
    waiting_for: NotRequired[str]
    description: NotRequired[str]
    attributes: NotRequired[Mapping[str, Any]]
    attributes_note: NotRequired[str]


class ResourceList(TypedDict):
    """Resources of a stack and its nested stacks."""

    resources: list[ResourceRow]


class Resource(TypedDict):
    """One resource."""

    resource: ResourceRow


class Metadata(TypedDict):
    """The metadata of a resource."""

    metadata: Mapping[str, Any]


class Mark(TypedDict):
    """The mark of a resource that the next update replaces."""

    mark_unhealthy: bool
    resource_status_reason: NotRequired[str | None]


class ConsoleLog(TypedDict):
    """The last lines of the console output of a server."""

    output: str


async def index(call: Call) -> Response:
    """List the resources of a stack; unknown keys of the query are rejected."""
    known = {parameter.name for parameter in LIST_QUERY}
    unknown = [key for key in call.query if key not in known]
    if unknown:
        filters = ", ".join(each.name for each in _FILTERS)
        raise bad_request(f"Invalid filter parameters {unknown}; there are {filters}.")
    detailed = _WITH_DETAIL.read(call.query)
    query = ResourceQuery(
        nested_depth=_NESTED_DEPTH.read(call.query) or 0,
        filters={f.name: f.read(call.query) for f in _FILTERS if f.name in call.query},
        with_attributes=detailed,
        with_unstarted=True,
    )
    found = await call.service.views.resources(call.caller, call.stack, query)
    shape = _detailed if detailed else _summary
    return await list_response(
        call.api.compute, "resources", (shape(call, resource) for resource in found)
    )


async def show(call: Call) -> Response:
    """Show one resource with its attributes."""
    name = call.path["resource_name"]
    attributes = WITH_ATTR.read(call.query)
    found = await call.service.views.resource(
        call.caller, call.stack, name, with_attributes=attributes, with_unstarted=True
    )
    return await document_response(call.api.compute, {"resource": _detailed(call, found)})


async def metadata(call: Call) -> Response:
    """Show the metadata of a resource."""
    name = call.path["resource_name"]
    found = await call.service.views.metadata(call.caller, call.stack, name)
    return await document_response(call.api.compute, {"metadata": found})


async def signal(call: Call) -> Response:
    """Record a signal; the body may be empty."""
    name = call.path["resource_name"]
    await call.service.signals.signal(call.caller, call.stack, name, await call.optional_document())
    return json_response(None)


async def mark_unhealthy(call: Call) -> Response:
    """Mark a resource for replacement by the next update, or remove the mark."""
    body = await call.document()
    unknown = sorted(body.keys() - {_MARK, _REASON})
    if unknown:
        raise bad_request(f"{', '.join(unknown)}: the body takes only {_MARK} and {_REASON}.")
    if _MARK not in body:
        raise bad_request(f"The body needs {_MARK}.")
    await call.service.operations.mark_unhealthy(
        call.caller,
        call.stack,
        call.path["resource_name"],
        unhealthy=flag(_MARK, body[_MARK]),
        reason=optional_text(body, _REASON) or "marked through the API",
    )
    return json_response(None)


def _summary(call: Call, resource: ResourceView) -> ResourceRow:
    links = [
        link(call.links.resource(resource.stack, resource.name), "self"),
        link(call.links.stack(resource.stack), "stack"),
    ]
    if resource.nested is not None:
        links.append(link(call.links.stack(resource.nested), "nested"))
    summary: ResourceRow = {
        "resource_name": resource.name,
        "logical_resource_id": resource.name,
        "physical_resource_id": resource.physical_id or "",
        "resource_type": resource.type_name,
        "resource_status": f"{resource.action}_{resource.status}",
        "resource_status_reason": resource.reason,
        "creation_time": isoformat(resource.created_at),
        "updated_time": isoformat(resource.updated_at),
        "required_by": resource.required_by,
        "links": links,
    }
    if resource.parent_resource is not None:
        summary["parent_resource"] = resource.parent_resource
    if resource.waiting_for is not None:
        summary["waiting_for"] = resource.waiting_for
    return summary


def _detailed(call: Call, resource: ResourceView) -> ResourceRow:
    detailed = _summary(call, resource)
    detailed["description"] = resource.description
    detailed["attributes"] = resource.attributes or {}
    if resource.attributes_note is not None:
        detailed["attributes_note"] = resource.attributes_note
    return detailed


async def console_log(call: Call) -> Response:
    """Show the console output of a server, at most 256 KiB. Not part of Heat's API.

    The cloud is asked with the credentials of the client.
    """
    lines = min(LINES.read(call.query) or _USUAL_LINES, _MOST_LINES)
    name = call.path["resource_name"]
    logs = call.service.reports.console_logs
    answer: ConsoleLog = {"output": await logs.of(call.caller, call.stack, name, lines)}
    return await document_response(call.api.compute, answer)
