"""Separates the sharing of an object from the RBAC policies that also share it.

Neutron shows an object as shared if any policy shares it with the project. Policies are objects of
their own, from other resources or created by hand, so the object ignores their grants.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Collection, Object
from stoker.resources.base.rest import RestResource
from stoker.schema.resource_type import Call

RBAC_POLICIES = Collection("network", "/rbac-policies", "rbac_policy", "rbac_policies")
_GRANT = ("action", "object_id", "target_tenant")
GRANTED = "sharing"


def policy_part(policy: Mapping[str, Any]) -> str:
    """Return the shared part for a policy; ``shared`` is the policy for all projects."""
    return " ".join((GRANTED, *(str(policy[name]) for name in _GRANT)))


class Shareable(RestResource):
    """An object with a property that shares it with all projects."""

    shares = frozenset({GRANTED})

    def parts(self, call: Call) -> set[str]:
        """Return the policy that shares the object with all projects as shared part."""
        if call.physical_id is None or not call.properties.get("shared"):
            return set()
        return {_shared_with_all(call.physical_id)}

    def changed_fields(self, call: Call) -> Object:
        """Return the fields to update. A policy that is a resource of the stack stays."""
        body = super().changed_fields(call)
        if body.get("shared") is False and _shared_with_all(call.object_id) in call.shared:
            del body["shared"]
        return body


def _shared_with_all(object_id: str) -> str:
    grant = {"object_id": object_id, "action": "access_as_shared", "target_tenant": "*"}
    return policy_part(grant)


def without_granted_sharing(call: Call, observed: Object) -> dict[str, Any]:
    """Return the properties without ``shared`` if only policies share the object."""
    if not observed.get("shared") or call.properties.get("shared"):
        return observed
    policies = RBAC_POLICIES.select(call.cloud, object_id=call.object_id)
    granted = any(policy.get("action") == "access_as_shared" for policy in policies)
    return {name: value for name, value in observed.items() if not granted or name != "shared"}
