"""OS::Keystone::Region: a part of the cloud with endpoints of its own."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class Region(RestResource):
    """A region. For administrators only."""

    type_name = "OS::Keystone::Region"
    description = "A part of the cloud with endpoints of its own."
    service = "identity"
    support = since("6.0.0")
    collection = KINDS["identity", "region"]
    field_names = {"parent_region": "parent_region_id"}
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "enabled": declare.boolean(
            "Whether the object is enabled.", default=True, update_allowed=True
        ),
        "id": declare.string("Id of the region. If not given, one is generated."),
        "parent_region": declare.by_name("keystone.region", "Parent region", update_allowed=True),
    }
