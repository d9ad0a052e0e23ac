"""OS::Neutron::L2GatewayConnection: connects a network through a layer-2 gateway.

A gateway has at most one connection to a network.
"""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.making_way import MakesWay
from stoker.schema.support import since


class L2GatewayConnection(MakesWay, RestResource):
    """A connection of a layer-2 gateway."""

    type_name = "OS::Neutron::L2GatewayConnection"
    description = "Connects a network to a physical one through a gateway."
    service = "network"
    support = since("12.0.0")
    extension = "l2-gateway-connection"
    unique = True
    collection = collection(
        "network",
        "l2_gateway_connection",
        path="/l2-gateway-connections",
        words="L2 gateway connection",
    )
    marker_field = ""
    identity_fields = ("l2_gateway_id", "network_id")

    properties = {
        "l2_gateway_id": declare.string("Id of the gateway.", required=True),
        "network_id": declare.by_name("neutron.network", "Network", required=True),
        "segmentation_id": declare.string("VLAN of the connection."),
    }
