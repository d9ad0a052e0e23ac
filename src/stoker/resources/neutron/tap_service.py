"""OS::Neutron::TaaS::TapService: a port that receives copies of traffic."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class TapService(RestResource):
    """A tap service."""

    type_name = "OS::Neutron::TaaS::TapService"
    description = "A port that receives copies of the traffic of other ports."
    service = "network"
    support = since("12.0.0")
    extension = "taas"
    collection = KINDS["network", "tap_service"]
    field_names = {"port": "port_id"}

    properties = {
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "name": declare.string(
            "Name of the object. If not given, a name is generated.",
            default="",
            update_allowed=True,
        ),
        "port": declare.by_name("neutron.port", "Port that receives the copies", required=True),
    }
