"""OS::Nova::ServerGroup: servers that are placed together or apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SERVER_GROUPS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.constraints import AllowedValues
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_RULES = "2.64"


class ServerGroup(RestResource):
    """A server group. A generated name contains the token; a name that the user chose does not."""

    type_name = "OS::Nova::ServerGroup"
    description = "A group of servers that are scheduled together or apart."
    service = "compute"
    support = since("2014.2")
    collection = SERVER_GROUPS
    quota = "compute/server_groups"
    marker_field = ""

    properties = {
        "name": declare.string("Name of the object. If not given, a name is generated."),
        "policies": declare.sequence(
            "Placement policies of the group.",
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
                    "Maximum number of the group's servers on one host."
                )
            },
        ),
    }

    def candidates(self, call: Call) -> list[Object]:
        """Return the groups with the same name and policies."""
        desired = set(call.properties.get("policies") or ())
        return [item for item in super().candidates(call) if desired & _policies_of(item)]

    def creation_body(self, call: Call) -> Object:
        """Return the request body. Rules need the newer format, which has a single policy."""
        body: Object = {"name": call.properties.get("name") or call.physical_name}
        policies = list(call.properties.get("policies") or [])
        limit = _limit(call.properties)
        if limit is None:
            return {**body, "policies": policies}
        return {**body, "policy": policies[0], "rules": {"max_server_per_host": int(limit)}}

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """Return the microversion with rules, if there are any."""
        return None if _limit(properties) is None else _RULES

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the group, from either format."""
        observed = super().properties_of(call, found)
        if "policy" in found:
            observed["policies"] = [found["policy"]]
        return observed

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return no attributes; there is only ``show``."""
        return {}


def _policies_of(group: Object) -> set[str]:
    """Return the policies of a group, from either format."""
    return {*(group.get("policies") or ()), *([group["policy"]] if "policy" in group else ())}


def _limit(properties: Mapping[str, Any]) -> float | None:
    limit: float | None = (properties.get("rules") or {}).get("max_server_per_host")
    return limit
