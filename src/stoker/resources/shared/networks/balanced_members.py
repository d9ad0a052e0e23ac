"""Base of all parts of a load balancer.

Octavia makes the whole tree of a load balancer immutable while it applies a change to one part. It
refuses requests in that time with 409; the engine sends them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.clouds.objects.collection import Object
from stoker.resources.base.rest import Readiness, RestResource
from stoker.schema.resource_type import Call

_PENDING = frozenset({"PENDING_CREATE", "PENDING_UPDATE", "PENDING_DELETE"})


class Balanced(RestResource):
    """A part of a load balancer. The service builds and deletes it in the background."""

    service = "load-balancer"
    readiness = Readiness(pending=_PENDING, field="provisioning_status")
    async_delete = True
    # Property with the id of another part -> field that lists such parts.
    owners: ClassVar[Mapping[str, str]] = {}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, including the ids of the parts that this one belongs to."""
        observed = super().properties_of(call, found)
        for name, field in self.owners.items():
            ids = [entry["id"] for entry in found.get(field) or ()]
            specified = call.properties.get(name)
            if specified is not None and ids:
                observed[name] = specified if specified in ids else ids[0]
        return observed
