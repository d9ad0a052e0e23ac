"""OS::Keystone::Service: a service in the catalog."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class Service(RestResource):
    """A service. For administrators only."""

    type_name = "OS::Keystone::Service"
    description = "A service in the catalog."
    service = "identity"
    support = since("5.0.0")
    collection = KINDS["identity", "service"]
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "enabled": declare.boolean(
            "Whether the object is enabled.",
            default=True,
            update_allowed=True,
            support=since("6.0.0"),
        ),
        "name": declare.NAME,
        "type": declare.string(
            "Type of the service, such as compute.", required=True, update_allowed=True
        ),
    }
