"""Stacks: create, list, describe, update, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.client_tokens import once
from stoker.api.cfn.handlers.drift import drift_information
from stoker.api.cfn.handlers.templates import requested_template, requested_text
from stoker.api.cfn.pages import cut, requested_page
from stoker.api.cfn.parameters import choice, flag, number, required, stack_parameters, values
from stoker.api.cfn.refused_parameters import refuse_unsupported
from stoker.api.cfn.statuses import filters_of, shown_status
from stoker.api.cfn.tags import requested_tags, shown_tags
from stoker.engine.model.requests import Caller, StackQuery, StackRequest
from stoker.engine.model.views import StackView
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import (
    INVALID_COMBINATION,
    INVALID_OPERATION,
    ExportInUseError,
    ValidationError,
)
from stoker.kernel.values import replace
from stoker.template.definition import Output

_DELETE = "DELETE"
# Reactions to a failure, and whether rollback is disabled.
_ON_FAILURE = {"DO_NOTHING": True, "ROLLBACK": False, _DELETE: False}
_CONFIG = "DeploymentConfig"
_EXPRESS = "EXPRESS"
_MODES = ("STANDARD", _EXPRESS)
_PSEUDO = ("AWS::", "OS::")  # prefixes of pseudo parameters
# Capabilities that a client acknowledges; no type here requires one.
_CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")


async def create(call: Call) -> dict[str, Any]:
    """Start creating a stack."""

    async def begin() -> StackAddress:
        request = await request_of_new(call)
        return await call.service.operations.create(call.caller, request)

    return _made(await once(call, begin))


async def request_of_new(call: Call) -> StackRequest:
    """Return the request for a new stack."""
    name = required(call.parameters, "StackName")
    parameters, previous = stack_parameters(call.parameters)
    if previous:
        raise ValidationError("UsePreviousValue is for updates; a new stack has no values yet.")
    settings = await _settings(call)
    template, template_file = await requested_template(call)
    return replace(
        settings,
        name=name,
        template=template,
        template_file=template_file,
        version_optional=True,
        parameters=parameters,
    )


async def update(call: Call) -> dict[str, Any]:
    """Start an update of a stack."""

    async def begin() -> StackAddress:
        stack = await call.stack()
        request = await request_of_update(call, stack)
        request = replace(request, must_change=True)
        await call.service.operations.update(call.caller, stack, request)
        return stack

    return _made(await once(call, begin))


async def request_of_update(call: Call, stack: StackAddress) -> StackRequest:
    """Return the request for an existing stack."""
    request = await _settings(call)
    parameters, previous = stack_parameters(call.parameters)
    keeps_template = flag(call.parameters, "UsePreviousTemplate")
    template, template_file = (None, None) if keeps_template else await requested_template(call)
    dropped: frozenset[str] = frozenset()
    if keeps_template or previous:
        environment = await call.service.views.environment(call.caller, stack)
        dropped = frozenset(environment["parameters"]) - previous - parameters.keys()
    if request.tags is None:
        shown = await call.service.views.stack(call.caller, stack, resolve_outputs=False)
        request = replace(request, tags=shown.tags)
    return replace(
        request,
        template=template,
        template_file=template_file,
        version_optional=True,
        parameters=parameters,
        existing=bool(keeps_template or previous),
        clear_parameters=tuple(sorted(dropped)),
    )


async def delete(call: Call) -> dict[str, Any]:
    """Start deleting a stack."""
    refuse_unsupported(call.parameters)
    try:
        delete = partial(call.service.operations.delete, express=is_express(call.parameters))
        await _once_on_stack(call, delete)
    except ExportInUseError as refusal:
        # Terraform interprets a ValidationError as the end of the stack.
        raise ValidationError(refusal.message, INVALID_OPERATION) from None
    return {}


async def cancel_update(call: Call) -> dict[str, Any]:
    """Start a rollback of the update in progress."""
    cancel = partial(call.service.operations.act, action="cancel_update")
    await _once_on_stack(call, cancel)
    return {}


async def roll_back(call: Call) -> dict[str, Any]:
    """Start a rollback of the failed change."""
    refuse_unsupported(call.parameters)
    return _made(await _once_on_stack(call, call.service.cloudformation.rollbacks.begin))


async def continue_rollback(call: Call) -> dict[str, Any]:
    """Resume a failed rollback."""
    refuse_unsupported(call.parameters)
    await _once_on_stack(call, call.service.cloudformation.rollbacks.resume)
    return {}


async def _once_on_stack(
    call: Call, act: Callable[[Caller, StackAddress], Awaitable[None]]
) -> StackAddress:
    """Run an action on the named stack, unless this same request was recorded before."""

    async def begin() -> StackAddress:
        stack = await call.stack()
        await act(call.caller, stack)
        return stack

    return await once(call, begin)


async def index(call: Call) -> dict[str, Any]:
    """List the caller's stacks, newest first."""
    statuses = frozenset(values(call.parameters, "StackStatusFilter"))
    found, more = await _stacks(call, statuses)
    return {
        "StackSummaries": [
            {
                "CreationTime": isoformat(stack.created_at),
                "LastUpdatedTime": _moment(stack.updated_at),
                "DeletionTime": _moment(stack.deleted_at),
                "StackId": stack.address.arn,
                "StackName": stack.address.name,
                "StackStatus": shown_status(stack),
                "StackStatusReason": stack.reason,
            }
            for stack in found
            if not statuses or shown_status(stack) in statuses
        ],
        **more,
    }


async def describe(call: Call) -> dict[str, Any]:
    """Describe one stack, or all of the caller's stacks if none is named."""
    if call.parameters.get("StackName"):
        addresses = [await call.stack()]
        more: dict[str, Any] = {}
    else:
        found, more = await _stacks(call)
        addresses = [stack.address for stack in found]
    return {"Stacks": [await _described(call, address) for address in addresses], **more}


async def _stacks(
    call: Call, statuses: frozenset[str] = frozenset()
) -> tuple[Sequence[StackView], dict[str, Any]]:
    query = StackQuery(
        requested_page(call),
        filters_of(statuses) if statuses else {},
        not_tags_any=call.api.settings.hidden_tags,
        show_deleted="DELETE_COMPLETE" in statuses,
    )
    found = await call.service.views.stacks(call.caller, query)
    return cut(call, found, lambda stack: stack.address.id)


async def _settings(call: Call) -> StackRequest:
    """Return the settings of a request other than the template."""
    parameters = call.parameters
    refuse_unsupported(parameters)
    policy, _ = await requested_text(call, "StackPolicy")
    meanwhile, _ = await requested_text(call, "StackPolicyDuringUpdate")
    for capability in values(parameters, "Capabilities"):
        choice({"Capabilities": capability}, "Capabilities", _CAPABILITIES)
    return StackRequest(
        timeout_mins=number(parameters, "TimeoutInMinutes", "minutes"),
        disable_rollback=_disable_rollback(parameters),
        express=is_express(parameters),
        tags=requested_tags(parameters),
        deletes_on_failure=_on_failure(parameters) == _DELETE,
        keeps=bool(flag(parameters, "EnableTerminationProtection")),
        stack_policy=policy,
        policy_meanwhile=meanwhile,
    )


def is_express(parameters: Mapping[str, str]) -> bool:
    """Return whether the deployment mode is express."""
    return choice(parameters, f"{_CONFIG}.Mode", _MODES) == _EXPRESS


def _disable_rollback(parameters: Mapping[str, str]) -> bool | None:
    disable_rollback = flag(parameters, "DisableRollback")
    on_failure = _on_failure(parameters)
    configured = flag(parameters, f"{_CONFIG}.DisableRollback")
    if configured is not None or is_express(parameters):
        if disable_rollback is not None or on_failure is not None:
            message = f"{_CONFIG} excludes DisableRollback and OnFailure; give the setting in it."
            raise ValidationError(message, INVALID_COMBINATION)
        # As in AWS, a failed express deployment stays as it is unless the request says otherwise.
        return True if configured is None else configured
    if on_failure is None:
        return disable_rollback
    if disable_rollback is not None:
        message = "DisableRollback and OnFailure exclude each other; give one of them."
        raise ValidationError(message, INVALID_COMBINATION)
    return _ON_FAILURE[on_failure]


def _on_failure(parameters: Mapping[str, str]) -> str | None:
    """Return the action on a failed create; change sets spell it differently."""
    names = ("OnFailure", "OnStackFailure")
    found = (choice(parameters, name, _ON_FAILURE) for name in names)
    return next((each for each in found if each is not None), None)


def _made(stack: StackAddress) -> dict[str, Any]:
    return {"StackId": stack.arn}


async def _described(call: Call, address: StackAddress) -> dict[str, Any]:
    stack = await call.service.views.stack(call.caller, address)
    protection = await call.service.cloudformation.protections.show(call.caller, address)
    described: dict[str, Any] = {
        "Capabilities": [],
        "CreationTime": isoformat(stack.created_at),
        "Description": stack.description or "No description",
        "DisableRollback": stack.disable_rollback,
        "EnableTerminationProtection": protection.keeps,
        "NotificationARNs": [],
        "Parameters": parameter_pairs(stack.parameters),
        "StackId": stack.address.arn,
        "StackName": stack.address.name,
        "StackStatusReason": stack.reason,
        "TimeoutInMinutes": stack.timeout_mins,
    }
    if stack.updated_at is not None:
        described["LastUpdatedTime"] = isoformat(stack.updated_at)
    return {
        **described,
        "StackStatus": shown_status(stack),
        "Tags": shown_tags(stack.tags),
        **await drift_information(call, address),
        "Outputs": [_output(output) for output in stack.outputs or ()],
    }


def parameter_pairs(parameters: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the declared parameters.

    Without pseudo parameters, because tools send each of them back, or look for its declaration.
    """
    return [
        {"ParameterKey": name, "ParameterValue": value}
        for name, value in parameters.items()
        if not name.startswith(_PSEUDO)
    ]


def _output(output: Output) -> dict[str, Any]:
    return {
        "Description": output.description or "No description given",
        "OutputKey": output.name,
        "OutputValue": output.value,
        "ExportName": output.export,
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else isoformat(seconds)
