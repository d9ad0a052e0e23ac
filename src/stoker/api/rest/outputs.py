"""Outputs of stacks."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import document_response
from stoker.api.rest.call import Call
from stoker.template.definition import Output

_NO_DESCRIPTION = "No description given"


class OutputRow(TypedDict):
    """An output without its value."""

    output_key: str
    description: str


class OutputList(TypedDict):
    """The outputs of a stack."""

    outputs: list[OutputRow]


class OutputDetail(OutputRow):
    """An output with its value."""

    output_value: Any
    output_error: NotRequired[str]
    output_note: NotRequired[str]


class OutputAnswer(TypedDict):
    """One output."""

    output: OutputDetail


async def index(call: Call) -> Response:
    """List keys and descriptions of outputs, without values."""
    found = await call.service.views.outputs(call.caller, call.stack)
    outputs = [
        {"output_key": key, "description": description or _NO_DESCRIPTION}
        for key, description in found
    ]
    return await document_response(call.api.compute, {"outputs": outputs})


async def show(call: Call) -> Response:
    """Show one output with its value."""
    output = await call.service.views.output(call.caller, call.stack, call.path["output_key"])
    return await document_response(call.api.compute, {"output": shown(output)})


def shown(output: Output) -> OutputDetail:
    """Return an output with its value, in the API's form."""
    answer: OutputDetail = {
        "output_key": output.name,
        "description": output.description or _NO_DESCRIPTION,
        "output_value": output.value,
    }
    if output.error is not None:
        answer["output_error"] = output.error
    if output.note is not None:
        answer["output_note"] = output.note
    return answer
