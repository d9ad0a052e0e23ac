"""Refactors: resources move between stacks, and keep their objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.handlers.templates import template_at
from stoker.api.cfn.pages import cut_sorted
from stoker.api.cfn.parameters import flag, members, required, values
from stoker.engine.model.refactors import RefactorRequest
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.stack_records.refactors import StoredRefactor
from stoker.engine.service.refactors.refactors import MOST_MOVES, MOST_STACKS
from stoker.kernel.addresses import parse_arn
from stoker.kernel.errors import MISSING_PARAMETER, VALUE_ERROR, ValidationError

_MAPPING = re.compile(
    r"ResourceMappings\.member\.([0-9]{1,4})\."
    r"((?:Source|Destination)\.(?:StackName|LogicalResourceId))",
    re.ASCII,
)
_LONGEST_DESCRIPTION = 1024


async def create(call: Call) -> dict[str, Any]:
    """Store a refactor with its effect."""
    description = call.parameters.get("Description", "")
    if len(description) > _LONGEST_DESCRIPTION:
        message = f"A description has up to {_LONGEST_DESCRIPTION} characters."
        raise ValidationError(message, VALUE_ERROR)
    moves = await _moves(call)
    creates = bool(flag(call.parameters, "EnableStackCreation"))
    # As in AWS, resources that keep their names need no mappings.
    request = RefactorRequest(await _stacks(call), moves, creates=creates, detects=not moves)
    stored = await call.service.cloudformation.stored_refactors.create(
        call.caller, request, description
    )
    return {"StackRefactorId": stored.id}


async def describe(call: Call) -> dict[str, Any]:
    """Return a refactor."""
    found = await _found(call)
    stack_ids = [stack["arn"] for stack in found.shown.get("stacks", ())]
    return {**_summary(found), "StackIds": stack_ids}


async def execute(call: Call) -> dict[str, Any]:
    """Execute a refactor."""
    refactor_id = required(call.parameters, "StackRefactorId")
    await call.service.cloudformation.stored_refactors.execute(call.caller, refactor_id)
    return {}


async def index(call: Call) -> dict[str, Any]:
    """List the refactors of the project."""
    states = set(values(call.parameters, "ExecutionStatusFilter"))
    found = await call.service.cloudformation.stored_refactors.list(call.caller)
    selected = [each for each in found if not states or each.state in states]
    numbered = [(f"{place:06}", each) for place, each in enumerate(selected)]
    page, more = cut_sorted(call, numbered, lambda each: each[0])
    return {"StackRefactorSummaries": [_summary(each) for _, each in page], **more}


async def actions(call: Call) -> dict[str, Any]:
    """List the effects of a refactor."""
    shown = (await _found(call)).shown
    whole = [
        *(_creation(stack) for stack in shown.get("created", ())),
        *(_move(move) for move in shown.get("moves", ())),
    ]
    numbered = [(f"{place:06}", each) for place, each in enumerate(whole)]
    page, more = cut_sorted(call, numbered, lambda each: each[0])
    return {"StackRefactorActions": [each for _, each in page], **more}


async def _found(call: Call) -> StoredRefactor:
    refactor_id = required(call.parameters, "StackRefactorId")
    return await call.service.cloudformation.stored_refactors.show(call.caller, refactor_id)


async def _stacks(call: Call) -> tuple[StackRequest, ...]:
    """Return the stacks with their new templates. Rejects incomplete ones (400)."""
    found = []
    definitions = members(call.parameters, "StackDefinitions")
    if len(definitions) > MOST_STACKS:
        raise ValidationError(f"A refactor has at most {MOST_STACKS} stacks.", VALUE_ERROR)
    for place, member in definitions.items():
        where = f"StackDefinitions.member.{place}"
        if not member.get("StackName"):
            raise _missing(f"{where}.StackName")
        text, url = member.get("TemplateBody"), member.get("TemplateURL")
        if not text and url:
            text = await template_at(call, url)
        if not text:
            raise _missing(f"{where}.TemplateBody")
        found.append(
            StackRequest(
                name=member["StackName"], template=text, existing=True, version_optional=True
            )
        )
    if not found:
        raise _missing("StackDefinitions.member.1.StackName")
    return tuple(found)


async def _moves(call: Call) -> dict[str, str]:
    """Return new paths by old path. Rejects incomplete mappings (400)."""
    mappings: dict[int, dict[str, str]] = {}
    for written, value in call.parameters.items():
        if (match := _MAPPING.fullmatch(written)) is not None:
            mappings.setdefault(int(match[1]), {})[match[2]] = value
    if len(mappings) > MOST_MOVES:
        raise ValidationError(f"A refactor has at most {MOST_MOVES} mappings.", VALUE_ERROR)
    found = {}
    for place in sorted(mappings):
        mapping, paths = mappings[place], []
        for end in ("Source", "Destination"):
            for key in ("StackName", "LogicalResourceId"):
                if not mapping.get(f"{end}.{key}"):
                    raise _missing(f"ResourceMappings.member.{place}.{end}.{key}")
            name = await _name(call, mapping[f"{end}.StackName"])
            paths.append(f"{name}/{mapping[f'{end}.LogicalResourceId']}")
        found[paths[0]] = paths[1]
    return found


async def _name(call: Call, text: str) -> str:
    """Return the name of a stack that is given by its name or ARN."""
    if parse_arn(text) is None:
        return text
    return (await call.service.operations.find(call.caller, text)).name


def _missing(name: str) -> ValidationError:
    return ValidationError(f"The request needs the parameter {name}.", MISSING_PARAMETER)


def _summary(found: StoredRefactor) -> dict[str, Any]:
    return {
        "StackRefactorId": found.id,
        "Description": found.description or None,
        "Status": "CREATE_FAILED" if found.fault else "CREATE_COMPLETE",
        "StatusReason": found.fault or None,
        "ExecutionStatus": found.state,
        "ExecutionStatusReason": found.reason or None,
    }


def _creation(stack: Mapping[str, str]) -> dict[str, Any]:
    return {
        "Action": "CREATE",
        "Entity": "STACK",
        "ResourceIdentifier": stack["name"],
        "Description": f"Stack {stack['name']} is created.",
        "Detection": "MANUAL",
        "TagResources": [],
        "UntagResources": [],
    }


def _move(move: Mapping[str, Any]) -> dict[str, Any]:
    source, target = move["source"], move["target"]
    automatic = move["detected"]
    return {
        "Action": "MOVE",
        "Entity": "RESOURCE",
        "PhysicalResourceId": move["physical_id"],
        "ResourceIdentifier": source[-1],
        "Description": f"Resource {'/'.join(source)} becomes {'/'.join(target)}.",
        "Detection": "AUTO" if automatic else "MANUAL",
        "DetectionReason": "It has the same name and type." if automatic else None,
        "TagResources": [],
        "UntagResources": [],
        "ResourceMapping": {"Source": _place(source), "Destination": _place(target)},
    }


def _place(path: list[str]) -> dict[str, str]:
    return {"StackName": path[0], "LogicalResourceId": "/".join(path[1:])}
