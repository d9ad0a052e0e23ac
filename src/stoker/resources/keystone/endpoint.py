"""OS::Keystone::Endpoint: the URL of a service."""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class Endpoint(RestResource):
    """An endpoint. For administrators only."""

    type_name = "OS::Keystone::Endpoint"
    description = "The URL of a service in the catalog."
    service = "identity"
    support = since("5.0.0")
    collection = collection("identity", "endpoint")
    marker_field = ""
    field_names = {"region": "region_id", "service": "service_id"}

    properties = {
        "enabled": declare.boolean(
            "Whether the object is enabled.",
            default=True,
            update_allowed=True,
            support=since("6.0.0"),
        ),
        "interface": declare.choice(
            ["public", "internal", "admin"],
            "Interface: public, internal or admin.",
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
