"""Resources of stacks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.pages import cut_sorted
from stoker.api.cfn.parameters import choice, required
from stoker.api.cfn.statuses import resource_status
from stoker.engine.model.requests import ResourceQuery
from stoker.engine.model.views import ResourceView
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import INVALID_COMBINATION, ValidationError

_ENDS = ("SUCCESS", "FAILURE")


async def describe_one(call: Call) -> dict[str, Any]:
    """Return one resource with its metadata, which agents in servers read."""
    name = required(call.parameters, "LogicalResourceId")
    found = await call.service.views.resource(call.caller, await call.stack(), name)
    # Long metadata would block the event loop.
    metadata = await call.api.compute(lambda: json.dumps(dict(found.metadata)))
    detail = {
        "Description": found.description,
        "LastUpdatedTimestamp": isoformat(found.updated_at),
        "LogicalResourceId": found.name,
        "Metadata": metadata if found.metadata else {},
        **_state(found),
        "StackId": found.stack.arn,
        "StackName": found.stack.name,
        "ResourceStatus": resource_status(found.action, found.status),
    }
    return {"StackResourceDetail": detail}


async def describe_several(call: Call) -> dict[str, Any]:
    """Describe the resources of a stack, or the one that ``LogicalResourceId`` names.

    The stack may be given by the id of one of its objects, ``PhysicalResourceId``.
    """
    physical_id = call.parameters.get("PhysicalResourceId")
    if not physical_id:
        stack = await call.stack()
    elif call.parameters.get("StackName"):
        message = "StackName and PhysicalResourceId exclude each other; give one of them."
        raise ValidationError(message, INVALID_COMBINATION)
    else:
        stack = await call.service.views.stack_with(call.caller, physical_id)
    return {
        "StackResources": [
            {
                "Description": found.description,
                "LogicalResourceId": found.name,
                **_state(found),
                "StackId": found.stack.arn,
                "StackName": found.stack.name,
                "Timestamp": isoformat(found.updated_at),
                "ResourceStatus": resource_status(found.action, found.status),
            }
            for found in await _resources(call, stack)
        ]
    }


async def summaries(call: Call) -> dict[str, Any]:
    """List the resources of a stack."""
    found = await _resources(call, await call.stack())
    shown, more = cut_sorted(call, found, lambda each: each.name)
    return {
        "StackResourceSummaries": [
            {
                "LastUpdatedTimestamp": isoformat(each.updated_at),
                "LogicalResourceId": each.name,
                **_state(each),
                "ResourceStatus": resource_status(each.action, each.status),
            }
            for each in shown
        ],
        **more,
    }


async def signal(call: Call) -> dict[str, Any]:
    """Signal success or failure to a waiting resource."""
    parameters = call.parameters
    name, unique_id = required(parameters, "LogicalResourceId"), required(parameters, "UniqueId")
    required(parameters, "Status")
    success = choice(parameters, "Status", _ENDS) == _ENDS[0]
    await call.service.signals.creation_signal(
        call.caller, await call.stack(), name, unique_id, success=success
    )
    return {}


async def _resources(call: Call, stack: StackAddress) -> Sequence[ResourceView]:
    name = call.parameters.get("LogicalResourceId")
    query = ResourceQuery(filters={"name": (name,)} if name else {})
    return await call.service.views.resources(call.caller, stack, query)


def _state(resource: ResourceView) -> dict[str, Any]:
    return {
        "PhysicalResourceId": resource.physical_id or "",
        "ResourceStatusReason": resource.reason,
        "ResourceType": resource.type_name,
    }
