"""What all parts of a load balancer have in common.

A change of one part makes all of them immutable until the service has carried it out: a request
meanwhile is refused as busy, and sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.clouds.collection import Object
from stoker.resources.base.rest import Readiness, RestResource
from stoker.schema.resource_type import Call

_PENDING = frozenset({"PENDING_CREATE", "PENDING_UPDATE", "PENDING_DELETE"})


class Balanced(RestResource):
    """A part of a load balancer, which the service builds and removes in the background."""

    service = "load-balancer"
    readiness = Readiness(pending=_PENDING, field="provisioning_status")
    async_delete = True
    owners: ClassVar[Mapping[str, str]] = {}
    """Property with the id of another part -> field with the list in which that part is."""

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """The fields, and those of the owners that were given."""
        told = super().properties_of(call, found)
        for name, field in self.owners.items():
            ids = [entry["id"] for entry in found.get(field) or ()]
            given = call.properties.get(name)
            if given is not None and ids:
                told[name] = given if given in ids else ids[0]
        return told
