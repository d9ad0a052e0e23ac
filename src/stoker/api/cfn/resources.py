"""Resources of stacks."""

from __future__ import annotations

import json
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.parameters import required
from stoker.engine.model.requests import ResourceQuery
from stoker.engine.model.views import ResourceView
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import NOT_SUPPORTED, Invalid


async def describe_one(call: Call) -> dict[str, Any]:
    """One resource with its metadata, which is how agents in servers learn what to do."""
    name = required(call.parameters, "LogicalResourceId")
    found = await call.service.views.resource(call.caller, await call.stack(), name)
    # written with the answer, beside the event loop
    metadata = await call.api.compute(lambda: json.dumps(dict(found.metadata)))
    detail = {
        "Description": found.description,
        "LastUpdatedTimestamp": isoformat(found.updated_at),
        "LogicalResourceId": found.name,
        "Metadata": metadata if found.metadata else {},
        **_state(found),
        "StackId": found.stack.arn,
        "StackName": found.stack.name,
        "ResourceStatus": f"{found.action}_{found.status}",
    }
    return {"StackResourceDetail": detail}


async def describe_several(call: Call) -> dict[str, Any]:
    """The resources of a stack, or the one of them that ``LogicalResourceId`` names."""
    if call.parameters.get("PhysicalResourceId"):
        raise Invalid(
            "PhysicalResourceId is not supported; name the stack with StackName.", NOT_SUPPORTED
        )
    return {
        "StackResources": [
            {
                "Description": found.description,
                "LogicalResourceId": found.name,
                **_state(found),
                "StackId": found.stack.arn,
                "StackName": found.stack.name,
                "Timestamp": isoformat(found.updated_at),
                "ResourceStatus": f"{found.action}_{found.status}",
            }
            for found in await _resources(call)
        ]
    }


async def summaries(call: Call) -> dict[str, Any]:
    """The resources of a stack in short."""
    return {
        "StackResourceSummaries": [
            {
                "LastUpdatedTimestamp": isoformat(found.updated_at),
                "LogicalResourceId": found.name,
                **_state(found),
                "ResourceStatus": f"{found.action}_{found.status}",
            }
            for found in await _resources(call)
        ]
    }


async def _resources(call: Call) -> list[ResourceView]:
    name = call.parameters.get("LogicalResourceId")
    query = ResourceQuery(filters={"name": (name,)} if name else {})
    return list(await call.service.views.resources(call.caller, await call.stack(), query))


def _state(resource: ResourceView) -> dict[str, Any]:
    return {
        "PhysicalResourceId": resource.physical_id or "",
        "ResourceStatusReason": resource.reason,
        "ResourceType": resource.type_name,
    }
