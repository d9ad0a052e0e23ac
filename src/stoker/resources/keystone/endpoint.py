"""OS::Keystone::Endpoint: an address of a service."""

from __future__ import annotations

from stoker.clouds.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class Endpoint(RestResource):
    """An endpoint. For administrators only."""

    type_name = "OS::Keystone::Endpoint"
    description = "An address at which a service is reached."
    service = "identity"
    support = since("5.0.0")
    collection = collection("identity", "endpoint")
    marker_field = ""
    field_names = {"region": "region_id", "service": "service_id"}

    properties = {
        "enabled": declare.boolean(
            "Whether the object can be used.",
            default=True,
            update_allowed=True,
            support=since("6.0.0"),
        ),
        "interface": declare.choice(
            ["public", "internal", "admin"],
            "Whom the address is for.",
            required=True,
            update_allowed=True,
        ),
        "name": declare.NAME,
        "region": declare.by_name("keystone.region", "Region", update_allowed=True),
        "service": declare.by_name(
            "keystone.service", "Service", required=True, update_allowed=True
        ),
        "url": declare.string("The address.", required=True, update_allowed=True),
    }
