"""Stacks: create, list, describe, update, delete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.parameters import flag, minutes, required, stack_parameters
from stoker.api.cfn.templates import given_template
from stoker.engine.model.requests import StackQuery, StackRequest
from stoker.engine.model.views import StackView
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import INVALID_COMBINATION, VALUE_ERROR, Invalid
from stoker.template.definition import Output

_ON_FAILURE = {"DO_NOTHING": True, "ROLLBACK": False, "DELETE": False}
"""What a stack does after a failure, and whether that means that rollback is disabled."""


async def create(call: Call) -> dict[str, Any]:
    """Start making a stack."""
    name = required(call.parameters, "StackName")
    given, kept = stack_parameters(call.parameters)
    if kept:
        raise Invalid("UsePreviousValue is for updates; a new stack has no values yet.")
    template, template_file = await given_template(call)
    request = replace(
        _settings(call),
        name=name,
        template=template,
        template_file=template_file,
        parameters=given,
    )
    return _made(await call.service.operations.create(call.caller, request))


async def update(call: Call) -> dict[str, Any]:
    """Start bringing a stack to what the request says."""
    stack, request = await call.stack(), _settings(call)
    given, kept = stack_parameters(call.parameters)
    keeps_template = flag(call.parameters, "UsePreviousTemplate")
    template, template_file = (None, None) if keeps_template else await given_template(call)
    dropped: frozenset[str] = frozenset()
    if keeps_template or kept:
        environment = await call.service.views.environment(call.caller, stack)
        dropped = frozenset(environment["parameters"]) - kept - given.keys()
    request = replace(
        request,
        template=template,
        template_file=template_file,
        parameters=given,
        existing=bool(keeps_template or kept),
        clear_parameters=tuple(sorted(dropped)),
    )
    await call.service.operations.update(call.caller, stack, request)
    return _made(stack)


async def delete(call: Call) -> dict[str, Any]:
    """Start deleting a stack."""
    await call.service.operations.delete(call.caller, await call.stack())
    return {}


async def cancel_update(call: Call) -> dict[str, Any]:
    """Start going back to what a stack was before the update under way."""
    await call.service.operations.act(call.caller, await call.stack(), "cancel_update")
    return {}


async def index(call: Call) -> dict[str, Any]:
    """The caller's stacks in short, newest first."""
    return {
        "StackSummaries": [
            {
                "CreationTime": isoformat(stack.created_at),
                "LastUpdatedTime": _moment(stack.updated_at),
                "DeletionTime": _moment(stack.deleted_at),
                "StackId": stack.address.arn,
                "StackName": stack.address.name,
                "StackStatus": f"{stack.action}_{stack.status}",
                "StackStatusReason": stack.reason,
            }
            for stack in await _stacks(call)
        ]
    }


async def describe(call: Call) -> dict[str, Any]:
    """One stack in full, or all of the caller's stacks where none is named."""
    named = call.parameters.get("StackName")
    addresses = [await call.stack()] if named else [stack.address for stack in await _stacks(call)]
    views = [await call.service.views.stack(call.caller, address) for address in addresses]
    return {"Stacks": [_described(view) for view in views]}


async def _stacks(call: Call) -> list[StackView]:
    query = StackQuery(not_tags_any=call.api.settings.hidden_tags)
    return list(await call.service.views.stacks(call.caller, query))


def _settings(call: Call) -> StackRequest:
    """What a request says of the stack beside its template."""
    parameters = call.parameters
    disable_rollback, on_failure = flag(parameters, "DisableRollback"), parameters.get("OnFailure")
    if on_failure is not None:
        if disable_rollback is not None:
            message = "DisableRollback and OnFailure exclude each other; give one of them."
            raise Invalid(message, INVALID_COMBINATION)
        if on_failure not in _ON_FAILURE:
            known = ", ".join(_ON_FAILURE)
            message = f'OnFailure is one of {known}, not "{on_failure:.100}".'
            raise Invalid(message, VALUE_ERROR)
        disable_rollback = _ON_FAILURE[on_failure]
    timeout_mins = minutes(parameters, "TimeoutInMinutes")
    return StackRequest(timeout_mins=timeout_mins, disable_rollback=disable_rollback)


def _made(stack: StackAddress) -> dict[str, Any]:
    return {"StackId": stack.arn}


def _described(stack: StackView) -> dict[str, Any]:
    described: dict[str, Any] = {
        "Capabilities": [],
        "CreationTime": isoformat(stack.created_at),
        "Description": stack.description or "No description",
        "DisableRollback": stack.disable_rollback,
        "NotificationARNs": [],
        "Parameters": _pairs(stack.parameters),
        "StackId": stack.address.arn,
        "StackName": stack.address.name,
        "StackStatusReason": stack.reason,
        "TimeoutInMinutes": stack.timeout_mins,
    }
    if stack.updated_at is not None:
        described["LastUpdatedTime"] = isoformat(stack.updated_at)
    return {
        **described,
        "StackStatus": f"{stack.action}_{stack.status}",
        "Outputs": [_output(output) for output in stack.outputs or ()],
    }


def _pairs(parameters: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"ParameterKey": key, "ParameterValue": parameters[key]} for key in parameters]


def _output(output: Output) -> dict[str, Any]:
    return {
        "Description": output.description or "No description given",
        "OutputKey": output.name,
        "OutputValue": output.value,
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else isoformat(seconds)
