"""Explanations of stacks and resources: an addition to Heat's API."""

from __future__ import annotations

from typing import TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import document_response
from stoker.api.rest.call import Call
from stoker.api.rest.shapes import Place, moment, place
from stoker.engine.model.views import Cause, Explanation


class Signals(TypedDict):
    """Numbers of received and expected signals."""

    received: int
    wanted: int


class KnownObject(TypedDict):
    """An object that a text mentions, as the stack records it."""

    id: str
    path: tuple[str, ...] | None
    used_by: tuple[tuple[str, ...], ...]


class CauseDetail(TypedDict):
    """The cause of the state of one resource."""

    kind: str
    path: tuple[str, ...]
    stack_name: str
    stack_id: str
    resource_type: str
    resource_status: str
    physical_resource_id: str | None
    text: str
    since: str | None
    waits_for: tuple[str, ...]
    signals: Signals | None
    hook: str | None
    because_of: tuple[str, ...]
    request_id: str | None
    position: Place | None
    objects: list[KnownObject]


class Why(TypedDict):
    """The explanation of a stack."""

    stack_name: str
    stack_id: str
    stack_status: str
    stack_status_reason: str
    since: str | None
    deadline: str | None
    complete: bool
    causes: list[CauseDetail]


class WhyAnswer(TypedDict):
    """The explanation of a stack, or of a resource of it."""

    why: Why


async def of_stack(call: Call) -> Response:
    """Explain the state of a stack."""
    return await _answer(
        call, await call.service.reports.explanations.stack(call.caller, call.stack)
    )


async def of_resource(call: Call) -> Response:
    """Explain the state of a resource."""
    name = call.path["resource_name"]
    return await _answer(
        call, await call.service.reports.explanations.resource(call.caller, call.stack, name)
    )


async def _answer(call: Call, found: Explanation) -> Response:
    stack = found.stack
    answer: WhyAnswer = {
        "why": {
            "stack_name": stack.address.name,
            "stack_id": stack.address.id,
            "stack_status": f"{stack.action}_{stack.status}",
            "stack_status_reason": stack.reason,
            "since": moment(found.since),
            "deadline": moment(found.deadline),
            "complete": found.is_complete,
            "causes": [_cause(cause) for cause in found.causes],
        }
    }
    return await document_response(call.api.compute, answer)


def _cause(cause: Cause) -> CauseDetail:
    return {
        "kind": cause.kind,
        "path": cause.path,
        "stack_name": cause.stack.name,
        "stack_id": cause.stack.id,
        "resource_type": cause.type_name,
        "resource_status": f"{cause.action}_{cause.status}",
        "physical_resource_id": cause.physical_id,
        "text": cause.text,
        "since": moment(cause.since),
        "waits_for": cause.waits_for,
        "signals": None
        if cause.signals is None
        else {"received": cause.signals[0], "wanted": cause.signals[1]},
        "hook": cause.hook,
        "because_of": cause.because_of,
        "request_id": cause.request_id,
        "position": None if cause.position is None else place(cause.position),
        "objects": [
            {"id": each.id, "path": each.path, "used_by": each.used_by} for each in cause.objects
        ],
    }
