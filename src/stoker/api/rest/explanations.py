"""Why stacks and resources are as they are: an addition to Heat's API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from stoker.api.rest.answers import document_response
from stoker.api.rest.call import Call
from stoker.api.rest.shapes import moment
from stoker.engine.model.views import Cause, Explanation


async def of_stack(call: Call) -> Response:
    """Why a stack is as it is."""
    return await _answer(await call.service.explanations.stack(call.caller, call.stack))


async def of_resource(call: Call) -> Response:
    """Why a resource is as it is."""
    name = call.path["resource_name"]
    return await _answer(await call.service.explanations.resource(call.caller, call.stack, name))


async def _answer(found: Explanation) -> Response:
    stack = found.stack
    return await document_response(
        {
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
    )


def _cause(cause: Cause) -> dict[str, Any]:
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
        else dict(zip(("received", "wanted"), cause.signals, strict=True)),
        "hook": cause.hook,
        "because_of": cause.because_of,
        "request_id": cause.request_id,
        "position": None if cause.position is None else asdict(cause.position),
    }
