"""Whether an object is shared, apart from the RBAC policies that share it.

The service shows an object as shared if any policy shares it with the project. Policies are objects
of their own: of another resource, or made by hand. The object does not compare what they grant.
"""

from __future__ import annotations

from typing import Any

from stoker.clouds.collection import Collection, Object
from stoker.schema.resource_type import Call

RBAC_POLICIES = Collection("network", "/rbac-policies", "rbac_policy", "rbac_policies")


def without_granted_sharing(call: Call, told: Object) -> dict[str, Any]:
    """The properties of an object, without ``shared`` where only policies share it."""
    if not told.get("shared") or call.properties.get("shared"):
        return told
    policies = RBAC_POLICIES.select(call.cloud, object_id=call.object_id)
    granted = any(policy.get("action") == "access_as_shared" for policy in policies)
    return {name: value for name, value in told.items() if not granted or name != "shared"}
