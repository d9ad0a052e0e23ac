"""Stacks: create, list, show, update, delete, and show their documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, Required, TypedDict
from urllib.parse import quote

from starlette.responses import Response

from stoker.api.rest.answers import (
    accepted,
    document_response,
    json_response,
    list_response,
    made_response,
    no_content,
    page,
    text_response,
    yaml_of,
)
from stoker.api.rest.call import Call
from stoker.api.rest.handlers.handovers import ADOPT_DATA, adopt
from stoker.api.rest.links import Link, link
from stoker.api.rest.requests.bodies import (
    changes_nothing,
    refuse_update_fields,
    stack_name,
    stack_request,
)
from stoker.api.rest.requests.paging import next_page
from stoker.api.rest.requests.parameters import Flag, Parameter, Text
from stoker.api.rest.requests.stack_query import STACK_QUERY, stack_query
from stoker.api.rest.shapes import ShownStack, StackRow, list_row, shown_stack
from stoker.engine.model.views import DriftedProperty, DriftView

_WITH_COUNT = Flag("with_count", "With the number of stacks that match, on whatever page.")
LIST_QUERY: tuple[Parameter, ...] = (*STACK_QUERY, _WITH_COUNT)
RESOLVE_OUTPUTS = Flag("resolve_outputs", "With the values of outputs.", default=True)
PLAN_FINGERPRINT = Text("plan_fingerprint", "Delete as long as this plan holds. Stoker's own.")
EXPRESS = Flag("express", "Delete without waiting where possible. Stoker's own.")
_TEXTS = ("application/yaml", "text/plain")
_DRIFTED = ("changed", "gone")


class StackBody(TypedDict, total=False):
    """The input of a stack. The template is an object, or a text in YAML or JSON."""

    template: Mapping[str, Any] | str | None
    template_url: str | None
    parameters: Mapping[str, Any] | None
    environment: Mapping[str, Any] | str | None
    environment_files: list[str] | None
    files: Mapping[str, Any] | None
    files_container: str | None
    timeout_mins: int | str | None
    disable_rollback: bool | str
    tags: str | list[str] | None
    plan_fingerprint: str | None
    import_objects: Mapping[str, str] | None
    express: bool | str


class CreateBody(StackBody, total=False):
    """A new stack; ``adopt_stack_data`` is the document of an abandoned stack."""

    stack_name: Required[str]
    adopt_stack_data: str | None


class UpdateBody(StackBody, total=False):
    """The new input of a stack."""

    existing: bool | str
    clear_parameters: list[str] | str | None
    converge: bool | str
    moves: Mapping[str, str]
    change_imported: bool | str
    keep_objects: list[str]


class Created(TypedDict):
    """The address of a new stack."""

    id: str
    links: list[Link]


class CreatedStack(TypedDict):
    """A stack that is being created."""

    stack: Created


class StackList(TypedDict):
    """A page of stacks, with a link to the next if it is full, and a total count if requested."""

    stacks: list[StackRow]
    links: NotRequired[list[Link]]
    count: NotRequired[int]


class StackAnswer(TypedDict):
    """One stack."""

    stack: ShownStack


class DriftedValue(TypedDict):
    """A property whose live value differs from the applied one."""

    name: str
    applied: Any
    live: Any
    repairable: bool


class ComparedResource(TypedDict):
    """A resource whose live object was compared with its applied definition."""

    resource_name: str
    resource_type: str
    physical_resource_id: str
    stack_name: str
    stack_id: str
    state: str
    reason: str
    properties: list[DriftedValue]
    not_compared: tuple[str, ...]


class Drift(TypedDict):
    """External changes."""

    drifted: bool
    resources: list[ComparedResource]


class DriftAnswer(TypedDict):
    """External changes to the live objects of a stack."""

    drift: Drift


async def create(call: Call) -> Response:
    """Start creating a stack."""
    body = await call.document()
    name = stack_name(body)
    refuse_update_fields(body)
    if body.get(ADOPT_DATA) is not None:
        stack = await adopt(call, body, name)
    else:
        request = await stack_request(call, body, name=name)
        stack = await call.service.operations.create(call.caller, request)
    href = call.links.stack(stack)
    answer: CreatedStack = {"stack": {"id": stack.id, "links": [link(href, "self")]}}
    return json_response(answer, 201, {"Location": href})


async def index(call: Call) -> Response:
    """List the caller's stacks that match the query."""
    query = stack_query(call.query, call.api.settings.hidden_tags)
    if query.all_projects:
        call.enforce("stacks:global_index")
    nothing = query.page.limit == 0
    stacks = () if nothing else await call.service.views.stacks(call.caller, query)
    with_project = query.all_projects or call.caller.is_admin
    rows = (list_row(call.links, stack, with_project=with_project) for stack in stacks)
    last = stacks[-1].address.id if stacks else None
    address = f"{call.links.root}/v1/{call.project_id}/stacks"
    more = next_page(call.query, query.page, len(stacks), last, address)
    if _WITH_COUNT.read(call.query):
        more["count"] = await call.service.views.count_stacks(call.caller, query)
    return await list_response(call.api.compute, "stacks", rows, **more)


async def lookup(call: Call) -> Response:
    """Redirect from a stack's name, id or ARN to its full address, or to a part of it.

    The response is 302 for every method; clients repeat the request there, with the same method.
    """
    stack = await call.service.operations.find(call.caller, call.path["stack_name"])
    below = call.path.get("below", "")
    location = call.links.stack(stack, f"/{quote(below, safe='/~')}" if below else "")
    if str(call.query):
        location = f"{location}?{call.query}"
    return page(302, f"The stack is at {location}", {"Location": location})


async def show(call: Call) -> Response:
    """Show one stack."""
    resolve = RESOLVE_OUTPUTS.read(call.query)
    stack = await call.service.views.stack(call.caller, call.stack, resolve_outputs=resolve)
    return await document_response(call.api.compute, {"stack": shown_stack(call.links, stack)})


async def template(call: Call) -> Response:
    """Show the template of a stack.

    A client that accepts ``application/yaml`` or ``text/plain`` and not JSON gets the text as it
    was sent, with its comments, or YAML if it was sent as data.
    """
    template, text = await call.service.views.template(call.caller, call.stack)
    asked = call.headers.get("accept", "").lower()
    kind = next((kind for kind in _TEXTS if kind in asked), None)
    if kind is None or "application/json" in asked:
        return await document_response(call.api.compute, template)
    return await text_response(
        call.api.compute, lambda: yaml_of(template) if text is None else text, kind
    )


async def environment(call: Call) -> Response:
    """Show the environment of a stack."""
    return await document_response(
        call.api.compute, await call.service.views.environment(call.caller, call.stack)
    )


async def files(call: Call) -> Response:
    """Show the files of a stack."""
    return await document_response(
        call.api.compute, await call.service.views.files(call.caller, call.stack)
    )


async def drift(call: Call) -> Response:
    """Show external changes of live objects, also of nested stacks. Not part of Heat's API."""
    found = await call.service.reports.drift.report(call.caller, call.stack)

    def described() -> DriftAnswer:
        drifted = any(each.state in _DRIFTED for each in found)
        return {"drift": {"drifted": drifted, "resources": [_described(each) for each in found]}}

    return await made_response(call.api.compute, described)


async def update(call: Call) -> Response:
    """Start an update of a stack to the input in the body."""
    return await _update(call, await call.document(), existing=False)


async def patch(call: Call) -> Response:
    """Start an update of the parts of a stack's input that are in the body."""
    body = await call.document()
    rule = "update_no_change" if changes_nothing(body) else "update_patch"
    call.enforce(f"stacks:{rule}")
    return await _update(call, body, existing=True)


async def delete(call: Call) -> Response:
    """Start deleting a stack; with a fingerprint, only if that plan still holds."""
    plan = PLAN_FINGERPRINT.read(call.query)
    express = EXPRESS.read(call.query)
    await call.service.operations.delete(call.caller, call.stack, plan, express=express)
    return no_content()


async def _update(call: Call, body: Mapping[str, Any], *, existing: bool) -> Response:
    request = await stack_request(call, body, existing=existing)
    await call.service.operations.update(call.caller, call.stack, request)
    return accepted()


def _described(drift: DriftView) -> ComparedResource:
    resource = drift.resource
    return {
        "resource_name": resource.name,
        "resource_type": resource.type_name,
        "physical_resource_id": resource.physical_id or "",
        "stack_name": resource.stack.name,
        "stack_id": resource.stack.id,
        "state": drift.state,
        "reason": drift.reason,
        "properties": [_value(each) for each in drift.properties],
        "not_compared": drift.not_compared,
    }


def _value(drifted: DriftedProperty) -> DriftedValue:
    return {
        "name": drifted.name,
        "applied": drifted.applied,
        "live": drifted.live,
        "repairable": drifted.repairable,
    }
