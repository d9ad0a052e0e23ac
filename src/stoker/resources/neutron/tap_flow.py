"""OS::Neutron::TaaS::TapFlow: copies the traffic of a port."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class TapFlow(RestResource):
    """A tap flow."""

    type_name = "OS::Neutron::TaaS::TapFlow"
    description = "Copies the traffic of a port to a tap service."
    service = "network"
    support = since("12.0.0")
    extension = "taas"
    collection = KINDS["network", "tap_flow"]
    field_names = {"port": "source_port", "tap_service": "tap_service_id"}

    properties = {
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "direction": declare.choice(
            ["IN", "OUT", "BOTH"], "Direction of the traffic.", default="BOTH"
        ),
        "name": declare.string(
            "Name of the object. If not given, a name is generated.",
            default="",
            update_allowed=True,
        ),
        "port": declare.by_name("neutron.port", "Port whose traffic is copied", required=True),
        "tap_service": declare.by_name(
            "neutron.taas.tap_service", "Tap service that receives the copies", required=True
        ),
        "vlan_filter": declare.string(
            "VLANs whose traffic is copied, such as 1,5-9.",
            constraints=(declare.pattern(r"^([0-9]+(-[0-9]+)?)(,([0-9]+(-[0-9]+)?))*$"),),
        ),
    }
