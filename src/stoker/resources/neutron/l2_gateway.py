"""OS::Neutron::L2Gateway: devices that connect virtual networks to physical ones.

L2 gateways have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class L2Gateway(RestResource):
    """A layer-2 gateway."""

    type_name = "OS::Neutron::L2Gateway"
    description = "Devices that connect virtual networks to physical ones."
    service = "network"
    support = since("12.0.0")
    extension = "l2-gateway"
    collection = collection("network", "l2_gateway", path="/l2-gateways", words="L2 gateway")
    marker_field = ""

    properties = {
        "devices": declare.records(
            "The devices.",
            required=True,
            update_allowed=True,
            entries={
                "device_name": declare.string("Name of the device.", required=True),
                "interfaces": declare.records(
                    "Its interfaces.",
                    required=True,
                    entries={
                        "name": declare.string("Name of the interface.", required=True),
                        "segmentation_id": declare.sequence("VLANs of the interface."),
                    },
                ),
            },
        ),
        "name": declare.string("Name of the gateway.", required=True, update_allowed=True),
    }
