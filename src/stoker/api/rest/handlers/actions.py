"""Actions on stacks: suspend, resume, check, cancel."""

from __future__ import annotations

from typing import Any, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import json_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request


class ActionBody(TypedDict, total=False):
    """An action, as the only key; its value does not matter."""

    suspend: Any
    resume: Any
    check: Any
    cancel_update: Any
    cancel_without_rollback: Any


ACTIONS = tuple(ActionBody.__annotations__)


async def act(call: Call) -> Response:
    """Start the one action that the body names; its value is ignored."""
    names = list(await call.document())
    if len(names) != 1:
        raise bad_request("Multiple actions specified" if names else "No action specified")
    action = names[0]
    if action not in ACTIONS:
        raise bad_request(f"Invalid action {action} specified; there are {', '.join(ACTIONS)}.")
    call.enforce(f"actions:{action}")
    await call.service.operations.act(call.caller, call.stack, action)
    return json_response(None)
