"""Events of stacks and of their resources."""

from __future__ import annotations

import json
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.pages import cut, requested_page
from stoker.api.cfn.statuses import resource_status, status_of
from stoker.engine.model.requests import EventQuery
from stoker.engine.model.views import EventView, StackView
from stoker.kernel.clock import isoformat

_OWN_TYPE = "AWS::CloudFormation::Stack"  # marks events of the stack itself


async def index(call: Call) -> dict[str, Any]:
    """List the events of a stack, newest first."""
    address = await call.stack()
    query = EventQuery(requested_page(call, descending=True))
    found = await call.service.views.events(call.caller, address, query)
    stack = await call.service.views.stack(call.caller, address, resolve_outputs=False)
    shown, more = cut(call, found, lambda event: event.id)
    events = await call.api.compute(lambda: [_shown(event, stack) for event in shown])
    return {"StackEvents": events, **more}


def _shown(event: EventView, stack: StackView) -> dict[str, Any]:
    shown = {
        "EventId": event.id,
        "LogicalResourceId": event.resource_name,
        "PhysicalResourceId": event.physical_id or "",
        "ResourceProperties": json.dumps(event.properties or {}, default=str),
        "ResourceStatus": resource_status(event.action, event.status),
        "ResourceStatusReason": event.reason,
        "ResourceType": event.resource_type,
        "StackId": event.stack.arn,
        "StackName": event.stack.name,
        "Timestamp": isoformat(event.time),
        "ClientRequestToken": event.client_token,
    }
    if event.resource_name == stack.address.name and event.physical_id == stack.address.id:
        shown |= {
            "PhysicalResourceId": event.stack.arn,
            "ResourceStatus": status_of(event.action, event.status, stack),
            "ResourceType": _OWN_TYPE,
        }
    return shown
