"""OS::Nova::ServerGroup: servers that are kept together or apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import SERVER_GROUPS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.constraints import AllowedValues
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_RULES = "2.64"


class ServerGroup(RestResource):
    """A server group. The user's name cannot be told from others': the token goes with ours."""

    type_name = "OS::Nova::ServerGroup"
    description = "A group of servers that are scheduled together or apart."
    service = "compute"
    support = since("2014.2")
    collection = SERVER_GROUPS
    marker_field = ""

    properties = {
        "name": declare.string("Name of the object; without one the stack gives it a name."),
        "policies": declare.sequence(
            "How the servers of the group are placed.",
            default=["anti-affinity"],
            constraints=(
                AllowedValues(["anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity"]),
            ),
            items=declare.string(),
        ),
        "rules": declare.mapping(
            "Rules of the group.",
            support=since("17.0.0"),
            entries={
                "max_server_per_host": declare.number(
                    "How many servers of the group one host may have."
                )
            },
        ),
    }

    def candidates(self, call: Call) -> list[Object]:
        """Return the groups of the same name and policies."""
        wanted = set(call.properties.get("policies") or ())
        return [item for item in super().candidates(call) if wanted & _policies_of(item)]

    def creation_body(self, call: Call) -> Object:
        """The group; rules belong to a newer form of the request, with a single policy."""
        body: Object = {"name": call.properties.get("name") or call.physical_name}
        policies = list(call.properties.get("policies") or [])
        limit = _limit(call.properties)
        if limit is None:
            return {**body, "policies": policies}
        return {**body, "policy": policies[0], "rules": {"max_server_per_host": int(limit)}}

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """Rules need a newer form of the request."""
        return None if _limit(properties) is None else _RULES

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """The group, in whichever form the service describes it."""
        told = super().properties_of(call, found)
        if "policy" in found:
            told["policies"] = [found["policy"]]
        return told

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """None but ``show``."""
        return {}


def _policies_of(group: Object) -> set[str]:
    """Return the policies of a group, in both forms of the service."""
    return {*(group.get("policies") or ()), *([group["policy"]] if "policy" in group else ())}


def _limit(properties: Mapping[str, Any]) -> float | None:
    limit: float | None = (properties.get("rules") or {}).get("max_server_per_host")
    return limit
