"""OS::Neutron::RBACPolicy: gives another project access to a network object.

Policies have no name. Neutron keeps their content unique, so a lost create is found by it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS
from stoker.clouds.objects.lookups import LookupFailedError, find_id
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.neutron.sharing import GRANTED, RBAC_POLICIES, policy_part
from stoker.resources.shared.making_way import MakesWay
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_IDENTITY = ("object_type", "object_id", "action", "target_tenant")


class RBACPolicy(MakesWay, RestResource):
    """A policy of role-based access to a network object."""

    type_name = "OS::Neutron::RBACPolicy"
    description = "Gives a project access to a network object of another project."
    service = "network"
    unique = True
    shares = frozenset({GRANTED})
    support = since("6.0.0")
    collection = RBAC_POLICIES
    marker_field = ""

    properties = {
        "action": declare.choice(
            ["access_as_shared", "access_as_external"], "Permitted action.", required=True
        ),
        "object_id": declare.string("The object, by name or id.", required=True),
        "object_type": declare.choice(
            ["network", "qos_policy", "security_group", "address_scope", "subnetpool"],
            "Type of the object.",
            required=True,
        ),
        "target_tenant": declare.string(
            "Id of the project that gets access, or * for all.", required=True, update_allowed=True
        ),
        "tenant_id": declare.TENANT_ID,
    }

    def creation_body(self, call: Call) -> Object:
        """Return the request body, with the object by id."""
        body = super().creation_body(call)
        kind = KINDS["network", body["object_type"]]
        return {**body, "object_id": find_id(call.cloud, kind, body["object_id"])}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, with the object by the user's name for it if they match."""
        observed = super().properties_of(call, found)
        object_id, kind = call.properties["object_id"], KINDS["network", found["object_type"]]
        with suppress(LookupFailedError):
            if object_id != observed["object_id"] == find_id(call.cloud, kind, object_id):
                observed["object_id"] = object_id
        return observed

    def parts(self, call: Call) -> Collection[str]:
        """Return the policy as shared part.

        The property ``shared`` of the object may stand for it.
        """
        return {policy_part(self.creation_body(call))}

    def find(self, call: Call) -> str | None:
        """Return the policy that grants the project the same access to the object."""
        desired = self.creation_body(call)
        listed = RBAC_POLICIES.select(call.cloud, object_id=desired["object_id"])
        for item in listed:
            if _identity(item) == _identity(desired):
                return str(item["id"])
        return None


def _identity(policy: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(policy.get(name) for name in _IDENTITY)
