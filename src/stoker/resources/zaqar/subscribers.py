"""Base of the subscription types.

A queue has each subscriber at most once, so a lost create is found by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource, refusal
from stoker.schema.constraints import Range
from stoker.schema.resource_type import Call, Done, Outcome

QUEUE_NAME = declare.by_name("zaqar.queue", "Queue", required=True)
TTL = declare.integer(
    "Time to live of the subscription in seconds.",
    default=220367260800,
    update_allowed=True,
    constraints=(Range(min=60),),
)


class Subscriber(RestResource):
    """A subscription."""

    service = "message"
    unique = True
    collection = replace(
        collection("message", "subscription", path="/queues/{}/subscriptions"),
        update_method="PATCH",
    )
    parent_property = "queue_name"
    marker_field = ""
    identity_fields = ("subscriber",)

    def create(self, call: Call) -> Outcome:
        """Create the subscription. The response has the id under another name."""
        if call.physical_id is not None:
            return Done()
        where = self.of(call)
        try:
            body = self.creation_body(call)
            subscription = where.ask(call.cloud, "POST", where.path, json=body)
        except CloudError as fault:
            return refusal(fault)
        return Done(str(subscription["subscription_id"]))

    def candidates(self, call: Call) -> list[Object]:
        """Return the subscription of the same subscriber. Zaqar cannot filter the list."""
        desired = self.creation_body(call)["subscriber"]
        listed = self.of(call).select(call.cloud)
        return [item for item in listed if item.get("subscriber") == desired]

    def changed_fields(self, call: Call) -> Object:
        """Return all fields, since Zaqar resets omitted ones to their defaults."""
        return self.creation_body(call)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties; options that were not given are omitted."""
        observed: Mapping[str, Any] = super().properties_of(call, found)
        return {**observed, "options": found.get("options") or None}
