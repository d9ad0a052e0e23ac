"""Change sets: plans of requests, stored until they are executed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.client_tokens import once
from stoker.api.cfn.handlers import templates
from stoker.api.cfn.handlers.stacks import parameter_pairs, request_of_new, request_of_update
from stoker.api.cfn.handlers.templates import requested_template
from stoker.api.cfn.imports import IMPORT, importing, require_types
from stoker.api.cfn.pages import cut_sorted
from stoker.api.cfn.parameters import choice, flag, required, stack_parameters
from stoker.api.cfn.tags import shown_tags
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import ChangeSetState, ChangeSetView
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import CHANGE_SET_NOT_FOUND, VALUE_ERROR, NotFoundError, ValidationError

_NAME = re.compile(r"[A-Za-z][-A-Za-z0-9]{0,127}", re.ASCII)
# Project, id of the stack, name and id of the change set.
_ARN = re.compile(r"arn:openstack:heat::[^:/]+:changeSets/([^/]+)/([^/]+)/([^/]+)")
_KINDS = ("UPDATE", "CREATE", IMPORT)
_LONGEST_DESCRIPTION = 1024
_ACTIONS = {"added": "Add", "updated": "Modify", "replaced": "Modify", "deleted": "Remove"}


async def create(call: Call) -> dict[str, Any]:
    """Plan a request, and store the plan."""
    parameters, sets = call.parameters, call.service.cloudformation.change_sets
    name = required(parameters, "ChangeSetName")
    if _NAME.fullmatch(name) is None:
        message = f'A change set is named by letters, digits and "-", not "{name:.150}".'
        raise ValidationError(message, VALUE_ERROR)
    description = parameters.get("Description", "")
    if len(description) > _LONGEST_DESCRIPTION:
        message = f"A description has up to {_LONGEST_DESCRIPTION} characters."
        raise ValidationError(message, VALUE_ERROR)
    kind = choice(parameters, "ChangeSetType", _KINDS)
    if kind == IMPORT:
        require_types(parameters, await _types(call))
    stack = None if kind == "CREATE" else await _existing(call, is_import=kind == IMPORT)
    if stack is None:
        request = await request_of_new(call)
        request = importing(parameters, request) if kind == IMPORT else request
        view = await sets.create(call.caller, name, request, description)
    else:
        request = await request_of_update(call, stack)
        request = importing(parameters, request) if kind == IMPORT else request
        nested = bool(flag(parameters, "IncludeNestedStacks"))
        view = await sets.of_update(
            call.caller, stack, name, request, description, show_nested=nested
        )
    return {"Id": _arn(view), "StackId": view.stack.arn}


async def _types(call: Call) -> Mapping[str, str]:
    """Return the type of each importable resource of the template, by name."""
    if flag(call.parameters, "UsePreviousTemplate"):
        return {}
    template, template_file = await requested_template(call)
    parameters, _ = stack_parameters(call.parameters)
    request = StackRequest(
        template=template,
        template_file=template_file,
        parameters=parameters,
        version_optional=True,
    )
    summary = await call.service.descriptions.summary(call.caller, request)
    return {name: kind for kind, names in summary.importable.items() for name in names}


async def _existing(call: Call, *, is_import: bool) -> StackAddress | None:
    """Return the stack of a change set. An import into a new stack creates it."""
    try:
        return await call.stack()
    except NotFoundError:
        if is_import:
            return None
        raise


async def describe(call: Call) -> dict[str, Any]:
    """Return a change set with its plan."""
    found = await _found(call)
    shown = found.change_set.shown
    changes = shown["changes"]
    with_values = bool(flag(call.parameters, "IncludePropertyValues"))
    numbered = [(f"{place:06}", change) for place, change in enumerate(changes)]
    page, more = cut_sorted(call, numbered, lambda each: each[0])
    return {
        **_summary(found),
        "Parameters": parameter_pairs(shown["parameters"]),
        "NotificationARNs": [],
        "Capabilities": [],
        "Tags": shown_tags(shown["tags"]),
        "Changes": await call.api.compute(
            lambda: [_change(change, with_values=with_values) for _, change in page]
        ),
        **more,
    }


async def index(call: Call) -> dict[str, Any]:
    """List the change sets of a stack."""
    found = await call.service.cloudformation.change_sets.list(call.caller, await call.stack())
    page, more = cut_sorted(call, found, lambda each: each.change_set.name)
    return {"Summaries": [_summary(each) for each in page], **more}


async def execute(call: Call) -> dict[str, Any]:
    """Start the execution of a change set."""
    disable_rollback = flag(call.parameters, "DisableRollback")

    async def begin() -> StackAddress:
        stack, name = await _place(call)
        await call.service.cloudformation.change_sets.execute(
            call.caller, stack, name, disable_rollback=disable_rollback
        )
        return stack

    await once(call, begin)
    return {}


async def delete(call: Call) -> dict[str, Any]:
    """Delete a change set, if it exists."""
    try:
        stack, name = await _place(call)
        await call.service.cloudformation.change_sets.delete(call.caller, stack, name)
    except NotFoundError as missing:
        if missing.error_type is not CHANGE_SET_NOT_FOUND:
            raise
    return {}


async def template(call: Call) -> dict[str, Any]:
    """Return the template of a change set, or of a stack if none is named."""
    if call.parameters.get("ChangeSetName"):
        text = (await _found(call)).change_set.request.get("template")
        if text is not None:
            return {"TemplateBody": text}
    return await templates.show(call)


async def _found(call: Call) -> ChangeSetView:
    stack, name = await _place(call)
    return await call.service.cloudformation.change_sets.show(call.caller, stack, name)


async def _place(call: Call) -> tuple[StackAddress, str]:
    """Return the stack of a change set, and its name or id."""
    name = required(call.parameters, "ChangeSetName")
    arn = _ARN.fullmatch(name)
    if arn is None:
        return await call.stack(), name
    try:
        return await call.service.operations.find(call.caller, arn[1]), arn[3]
    except NotFoundError:
        message = f"ChangeSet [{name:.300}] does not exist"
        raise NotFoundError(message, CHANGE_SET_NOT_FOUND) from None


def _arn(found: ChangeSetView) -> str:
    stack, change_set = found.stack, found.change_set
    place = f"{stack.id}/{change_set.name}/{change_set.id}"
    return f"arn:openstack:heat::{stack.project_id}:changeSets/{place}"


def _summary(found: ChangeSetView) -> dict[str, Any]:
    change_set = found.change_set
    failed = found.state is ChangeSetState.UNAVAILABLE
    return {
        "ChangeSetId": _arn(found),
        "ChangeSetName": change_set.name,
        "StackId": found.stack.arn,
        "StackName": found.stack.name,
        "Description": change_set.description or None,
        "CreationTime": isoformat(change_set.created_at),
        "ExecutionStatus": str(found.state),
        "Status": "FAILED" if failed else "CREATE_COMPLETE",
        "StatusReason": change_set.fault or None,
    }


def _change(change: Mapping[str, Any], *, with_values: bool) -> dict[str, Any]:
    properties = change.get("properties", ())
    shown = {
        "Action": "Import" if change.get("imported") else _ACTIONS[change["change"]],
        "LogicalResourceId": "/".join(change["path"]),
        "PhysicalResourceId": change["physical_id"],
        "ResourceType": change["type"],
        "Replacement": _replacement(change),
        "PolicyAction": _policy_action(change),
        "Scope": ["Properties"] if properties else [],
        "Details": [_detail(each, change, with_values=with_values) for each in properties],
    }
    return {"Type": "Resource", "ResourceChange": shown}


def _replacement(change: Mapping[str, Any]) -> str | None:
    if change["change"] == "replaced":
        return "True"
    if change["change"] != "updated":
        return None
    return "Conditional" if change["may_force"] else "False"


def _policy_action(change: Mapping[str, Any]) -> str | None:
    stays = change.get("keeps_object")
    if change["change"] == "replaced":
        return "ReplaceAndRetain" if stays else "ReplaceAndDelete"
    if change["change"] == "deleted":
        return "Retain" if stays else "Delete"
    return None


def _detail(
    each: Mapping[str, Any], change: Mapping[str, Any], *, with_values: bool
) -> dict[str, Any]:
    name, known = each["name"], each["known"]
    recreation = "Never"
    if name in change["forcing"]:
        recreation = "Always"
    elif name in change["may_force"]:
        recreation = "Conditionally"
    target = {"Attribute": "Properties", "Name": name, "RequiresRecreation": recreation}
    if with_values:
        target |= {"Path": f"/Properties/{name}", "BeforeValue": _text(each["old"])}
        target |= {"AfterValue": _text(each["new"])} if known else {}
    return {
        "Target": target,
        "Evaluation": "Static" if known else "Dynamic",
        "ChangeSource": "DirectModification" if known else "ResourceAttribute",
        "CausingEntity": None if known else ", ".join(each["known_after"]),
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
