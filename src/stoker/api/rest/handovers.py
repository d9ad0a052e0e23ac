"""Stacks that are given away: exports and abandons."""

from __future__ import annotations

from starlette.responses import Response

from stoker.api.rest.answers import document_response
from stoker.api.rest.call import Call
from stoker.kernel.errors import NotSupported


async def export(call: Call) -> Response:
    """All that it takes to adopt the objects of a stack."""
    _require(call)
    return await document_response(await call.service.exports.export(call.caller, call.stack))


async def abandon(call: Call) -> Response:
    """The same, and the stack goes without its objects."""
    _require(call)
    return await document_response(await call.service.exports.abandon(call.caller, call.stack))


def _require(call: Call) -> None:
    """Raise NotSupported where the operator has not switched this on."""
    if not call.api.settings.abandons:
        raise NotSupported("Stack Abandon is not supported. Set enable_stack_abandon to have it")
