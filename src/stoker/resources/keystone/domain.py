"""OS::Keystone::Domain: a namespace of projects, users and groups."""

from __future__ import annotations

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since


class Domain(RestResource):
    """A domain. For administrators only."""

    type_name = "OS::Keystone::Domain"
    description = "A namespace of projects, users and groups."
    service = "identity"
    support = since("8.0.0")
    collection = KINDS["identity", "domain"]

    properties = {
        "description": declare.DESCRIPTION,
        "enabled": declare.boolean(
            "Whether the object is enabled.", default=True, update_allowed=True
        ),
        "name": declare.NAME,
    }

    def delete(self, call: Call) -> Outcome:
        """Disable the domain, then delete it: Keystone refuses to delete an enabled one."""
        if call.physical_id is not None:
            with gone_is_fine():
                self.collection.update(call.cloud, call.physical_id, {"enabled": False})
        return super().delete(call)
