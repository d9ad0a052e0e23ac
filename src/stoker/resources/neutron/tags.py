"""Tags of network objects, which are set by a follow-up request."""

from __future__ import annotations

from stoker.clouds.objects.collection import Collection
from stoker.resources.base.rest import FollowUpRequest
from stoker.schema.resource_type import Call


def tags_of(collection: Collection) -> FollowUpRequest:
    """Return the follow-up request for the property ``tags``."""

    def replace_tags(call: Call) -> None:
        tags = list(call.properties.get("tags") or [])
        path = collection.at(call.object_id, "/tags")
        collection.ask(call.cloud, "PUT", path, json={"tags": tags})

    return FollowUpRequest("tags", replace_tags)
