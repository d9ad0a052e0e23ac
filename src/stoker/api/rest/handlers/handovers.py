"""Exports, abandons and adoptions of stacks."""

from __future__ import annotations

from starlette.responses import Response

from stoker.api.rest.answers import document_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.bodies import Body, stack_request
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import NotSupportedError

ADOPT_DATA = "adopt_stack_data"


async def export(call: Call) -> Response:
    """Return the document for an adoption of a stack's objects."""
    _require("Stack Abandon", "enable_stack_abandon", on=call.api.settings.abandons)
    return await document_response(
        call.api.compute, await call.service.exports.export(call.caller, call.stack)
    )


async def abandon(call: Call) -> Response:
    """Return the document of a stack, and delete the stack without its objects."""
    _require("Stack Abandon", "enable_stack_abandon", on=call.api.settings.abandons)
    return await document_response(
        call.api.compute, await call.service.exports.abandon(call.caller, call.stack)
    )


async def adopt(call: Call, body: Body, name: str) -> StackAddress:
    """Start a stack that adopts the objects of the document in the body."""
    _require("Stack Adopt", "enable_stack_adopt", on=call.api.settings.adopts)
    document = body[ADOPT_DATA]
    if not isinstance(document, str):
        raise bad_request(f"{ADOPT_DATA} must be a string, not {type(document).__name__}.")
    # The template is that of the document, regardless of one in the body.
    rest = {key: value for key, value in body.items() if not key.startswith("template")}
    request = await stack_request(call, rest, name=name, existing=True)
    return await call.service.operations.adopt(call.caller, request, document)


def _require(what: str, option: str, *, on: bool) -> None:
    """Raise NotSupportedError for a feature that the operator has not enabled."""
    if not on:
        raise NotSupportedError(f"{what} is not supported. Set {option} to have it")
