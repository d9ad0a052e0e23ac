"""The search of a project, and the past operations of a stack. Not part of Heat's API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import document_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.parameters import Number, Text
from stoker.engine.model.storage.overview import Match, PastOperation, SearchQuery
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import isoformat

MOST_MATCHES, USUAL_MATCHES = 200, 50
MOST_OPERATIONS, USUAL_OPERATIONS = 100, 20
_LONGEST_TEXT = 255

TEXT = Text("text", "A part of a name, tag, status, resource type, physical id or address.")
MATCHES = Number("limit", f"The most matches; {USUAL_MATCHES} by default, {MOST_MATCHES} at most.")
OPERATIONS = Number(
    "limit", f"The most operations; {USUAL_OPERATIONS} by default, {MOST_OPERATIONS} at most."
)
MARKER = Text("marker", "The id of an operation: only older ones are listed.")


class FoundStack(TypedDict):
    """The name and id of a stack."""

    name: str
    id: str


class Found(TypedDict):
    """A stack or a resource that matches."""

    kind: str  # ``stack`` or ``resource``
    stack: FoundStack  # the stack itself, or the one with the resource
    root_stack: FoundStack  # the outermost stack
    path: list[str]  # resources that lead from the outermost stack to this one
    resource_name: str | None
    resource_type: str | None
    physical_resource_id: str | None
    status: str
    matched: str  # name, tag, status, type, physical_id, id or address


class SearchAnswer(TypedDict):
    """All matches."""

    matches: list[Found]


class OperationRow(TypedDict):
    """An operation of a stack. Times and counts are known as long as its events are kept."""

    id: str
    action: str
    kind: str
    status: str
    status_reason: str
    creation_time: str
    start_time: str | None
    end_time: str | None
    resources: Mapping[str, int]  # by the last status of each resource, as CREATE_COMPLETE


class OperationList(TypedDict):
    """Operations of a stack, newest first."""

    operations: list[OperationRow]


async def search(call: Call) -> Response:
    """Find stacks and resources of the project by a part of a text. Not part of Heat's API.

    Stacks are listed first, newest first. Addresses are found in the records of the 2,000 newest
    servers, ports and floating IPs, not in the cloud. The record of a server has no addresses that
    are neither properties nor read by its template. Deleted stacks are not found, nor stacks with a
    hidden tag. Nothing matches an empty text.
    """
    text = (TEXT.read(call.query) or "").strip()
    if len(text) > _LONGEST_TEXT:
        raise bad_request(f"text must have at most {_LONGEST_TEXT} characters.")
    limit = _limit(MATCHES.read(call.query), USUAL_MATCHES, MOST_MATCHES)
    query = SearchQuery(call.project_id, text, limit, call.api.settings.hidden_tags)
    found = await call.service.reports.overviews.search(call.caller, query) if text else ()
    answer: SearchAnswer = {"matches": [_found(each) for each in found]}
    return await document_response(call.api.compute, answer)


async def operations(call: Call) -> Response:
    """List past and present operations of a stack, newest first. Not part of Heat's API."""
    limit = _limit(OPERATIONS.read(call.query), USUAL_OPERATIONS, MOST_OPERATIONS)
    before = MARKER.read(call.query)
    found = await call.service.reports.overviews.operations(call.caller, call.stack, limit, before)
    answer: OperationList = {"operations": [_operation(each) for each in found]}
    return await document_response(call.api.compute, answer)


def _limit(given: int | None, usual: int, most: int) -> int:
    return min(given or usual, most)


def _found(match: Match) -> Found:
    is_resource = match.resource_name is not None
    return {
        "kind": "resource" if is_resource else "stack",
        "stack": _stack(match.stack),
        "root_stack": _stack(match.root),
        "path": list(match.path),
        "resource_name": match.resource_name,
        "resource_type": match.resource_type or None,
        "physical_resource_id": match.physical_id if is_resource else None,
        "status": f"{match.action}_{match.status}",
        "matched": match.field,
    }


def _stack(address: StackAddress) -> FoundStack:
    return {"name": address.name, "id": address.id}


def _operation(operation: PastOperation) -> OperationRow:
    return {
        "id": operation.id,
        "action": operation.action,
        "kind": operation.kind,
        "status": operation.status,
        "status_reason": operation.reason,
        "creation_time": isoformat(operation.created_at),
        "start_time": _time(operation.started_at),
        "end_time": _time(operation.ended_at),
        "resources": operation.counts,
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else isoformat(seconds)
