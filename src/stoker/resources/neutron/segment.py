"""OS::Neutron::Segment: a part of a network on one physical network."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class Segment(RestResource):
    """A segment. For administrators only."""

    type_name = "OS::Neutron::Segment"
    description = "A part of a network on one physical network."
    service = "network"
    support = since("9.0.0")
    extension = "segment"
    collection = KINDS["network", "segment"]
    field_names = {"network": "network_id"}
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "name": declare.NAME,
        "network": declare.by_name("neutron.network", "Network", required=True),
        "network_type": declare.choice(
            ["local", "vlan", "vxlan", "gre", "geneve", "flat"],
            "Type of the physical network.",
            required=True,
        ),
        "physical_network": declare.string("Name of the physical network."),
        "segmentation_id": declare.at_least(1, "Id of the segment, such as a VLAN id."),
    }
