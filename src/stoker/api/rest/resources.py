"""Resources of stacks: lists, single ones, metadata, signals, marks."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from stoker.api.rest.answers import document_response, json_response, list_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.links import link
from stoker.api.rest.values import flag, optional_text, query_flag, query_number, several
from stoker.engine.model.requests import ResourceQuery
from stoker.engine.model.views import ResourceView
from stoker.kernel.clock import isoformat

_FILTERS = ("type", "status", "name", "action", "id", "physical_resource_id")
_OPTIONS = ("nested_depth", "with_detail")
_MARK = "mark_unhealthy"
_REASON = "resource_status_reason"


async def index(call: Call) -> Response:
    """The resources of a stack; keys of the query that are no filter are refused."""
    unknown = [key for key in call.query if key not in _FILTERS + _OPTIONS]
    if unknown:
        raise bad_request(f"Invalid filter parameters {unknown}; there are {', '.join(_FILTERS)}.")
    detailed = query_flag(call.query, "with_detail")
    query = ResourceQuery(
        nested_depth=query_number(call.query, "nested_depth") or 0,
        filters={n: several(call.query, n) for n in _FILTERS if n in call.query},
        with_attributes=detailed,
    )
    found = await call.service.views.resources(call.caller, call.stack, query)
    shape = _detailed if detailed else _summary
    return await list_response("resources", (shape(call, resource) for resource in found))


async def show(call: Call) -> Response:
    """One resource with its attributes."""
    name = call.path["resource_name"]
    wanted = several(call.query, "with_attr")
    found = await call.service.views.resource(call.caller, call.stack, name, with_attributes=wanted)
    return await document_response({"resource": _detailed(call, found)})


async def metadata(call: Call) -> Response:
    """The metadata of a resource."""
    name = call.path["resource_name"]
    found = await call.service.views.metadata(call.caller, call.stack, name)
    return await document_response({"metadata": found})


async def signal(call: Call) -> Response:
    """Record a signal; the body may be empty."""
    name = call.path["resource_name"]
    await call.service.signals.signal(call.caller, call.stack, name, await call.optional_document())
    return json_response(None)


async def mark_unhealthy(call: Call) -> Response:
    """Mark a resource for replacement by the next update, or take the mark back."""
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


def _summary(call: Call, resource: ResourceView) -> dict[str, Any]:
    links = [
        link(call.links.resource(resource.stack, resource.name), "self"),
        link(call.links.stack(resource.stack), "stack"),
    ]
    if resource.nested is not None:
        links.append(link(call.links.stack(resource.nested), "nested"))
    summary: dict[str, Any] = {
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


def _detailed(call: Call, resource: ResourceView) -> dict[str, Any]:
    note = resource.attributes_note
    return {
        **_summary(call, resource),
        "description": resource.description,
        "attributes": resource.attributes or {},
        **({} if note is None else {"attributes_note": note}),
    }
