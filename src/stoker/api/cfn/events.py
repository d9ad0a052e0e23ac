"""Events of stacks and of their resources."""

from __future__ import annotations

import json
from typing import Any

from stoker.api.cfn.call import Call
from stoker.engine.model.requests import EventQuery, Page
from stoker.engine.model.views import EventView
from stoker.kernel.clock import isoformat


async def index(call: Call) -> dict[str, Any]:
    """The events of a stack, newest first."""
    query = EventQuery(Page(descending=True))
    found = await call.service.views.events(call.caller, await call.stack(), query)
    return {"StackEvents": await call.api.compute(lambda: [_shown(event) for event in found])}


def _shown(event: EventView) -> dict[str, Any]:
    return {
        "EventId": event.id,
        "LogicalResourceId": event.resource_name,
        "PhysicalResourceId": event.physical_id or "",
        "ResourceProperties": json.dumps(event.properties or {}, default=str),
        "ResourceStatus": f"{event.action}_{event.status}",
        "ResourceStatusReason": event.reason,
        "ResourceType": event.resource_type,
        "StackId": event.stack.arn,
        "StackName": event.stack.name,
        "Timestamp": isoformat(event.time),
    }
