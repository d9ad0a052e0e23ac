"""Sharing of an object, apart from the RBAC policies that share it.

The service shows an object as shared if any policy shares it with the project. Policies are objects
of their own: of another resource, or made by hand. The object does not compare their grants.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.collection import Collection, Object
from stoker.resources.base.rest import RestResource
from stoker.schema.resource_type import Call

RBAC_POLICIES = Collection("network", "/rbac-policies", "rbac_policy", "rbac_policies")
_GRANT = ("action", "object_id", "target_tenant")
GRANTED = "sharing"  # the kind of parts that policies are


def policy_part(policy: Mapping[str, Any]) -> str:
    """Return the grant of a policy; ``shared`` of an object is the policy for all projects."""
    return " ".join((GRANTED, *(str(policy[name]) for name in _GRANT)))


class Shareable(RestResource):
    """An object that a property shares with all projects."""

    shares = frozenset({GRANTED})

    def parts(self, call: Call) -> set[str]:
        """Return the policy that shares the object with all projects."""
        if call.physical_id is None or not call.properties.get("shared"):
            return set()
        return {_shared_with_all(call.physical_id)}

    def changed_fields(self, call: Call) -> Object:
        """Return the fields that an update sends; a policy that is a resource of the stack
        stays."""
        body = super().changed_fields(call)
        if body.get("shared") is False and _shared_with_all(call.object_id) in call.shared:
            del body["shared"]
        return body


def _shared_with_all(object_id: str) -> str:
    grant = {"object_id": object_id, "action": "access_as_shared", "target_tenant": "*"}
    return policy_part(grant)


def without_granted_sharing(call: Call, told: Object) -> dict[str, Any]:
    """Return the properties of an object, without ``shared`` where only policies share it."""
    if not told.get("shared") or call.properties.get("shared"):
        return told
    policies = RBAC_POLICIES.select(call.cloud, object_id=call.object_id)
    granted = any(policy.get("action") == "access_as_shared" for policy in policies)
    return {name: value for name, value in told.items() if not granted or name != "shared"}
