"""OS::Zaqar::MistralTrigger: starts a workflow for each message of a queue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.kernel.errors import RequestError
from stoker.resources.base import declare
from stoker.resources.zaqar.subscribers import QUEUE_NAME, TTL, Subscriber
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class MistralTrigger(Subscriber):
    """A trigger of a workflow."""

    type_name = "OS::Zaqar::MistralTrigger"
    description = "Starts a workflow for each message of a queue."
    support = since("8.0.0")

    properties = {
        "input": declare.mapping("Input of the workflow.", default={}, update_allowed=True),
        "params": declare.mapping(
            "Parameters of the workflow; the message is env.notification.",
            default={},
            update_allowed=True,
        ),
        "queue_name": QUEUE_NAME,
        "ttl": TTL,
        "workflow_id": declare.by_name(
            "mistral.workflow", "Workflow", required=True, update_allowed=True
        ),
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the subscription without its subscriber."""
        params = dict(properties.get("params") or {})
        params["env"] = {**(params.get("env") or {}), "notification": "$zaqar_message$"}
        execution = {
            "workflow_id": properties["workflow_id"],
            "input": properties.get("input") or {},
            "params": params,
        }
        return {"ttl": properties["ttl"], "options": {"post_data": json.dumps(execution)}}

    def creation_body(self, call: Call) -> Object:
        """Return the subscription of the workflow service, which uses a trust of the user."""
        if not call.cloud.offers("workflow"):
            raise RequestError("the cloud has no workflow service, which this type needs")
        endpoint = call.cloud.service("workflow").get_endpoint()
        subscriber = f"trust+{endpoint.rstrip('/')}/executions"
        return {**super().creation_body(call), "subscriber": subscriber}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the workflow and its input, from the request that is sent for each message."""
        execution = json.loads((found.get("options") or {}).get("post_data") or "{}")
        params = dict(execution.get("params") or {})
        env = {k: v for k, v in (params.pop("env", None) or {}).items() if k != "notification"}
        return {
            "queue_name": call.properties["queue_name"],
            "ttl": found.get("ttl"),
            "workflow_id": execution.get("workflow_id"),
            "input": execution.get("input") or {},
            "params": {**params, "env": env} if env else params,
        }
