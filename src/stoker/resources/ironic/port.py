"""OS::Ironic::Port: a network interface of a bare metal node.

MAC addresses are unique, so a lost create is found by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Port(RestResource):
    """A port of a node."""

    type_name = "OS::Ironic::Port"
    description = "A network interface of a bare metal node."
    service = "baremetal"
    support = since("13.0.0")
    unique = True
    collection = collection("baremetal", "port", id_field="uuid", microversion="1.53")
    marker_field = ""
    identity_fields = ("address",)
    field_names = {"node": "node_uuid", "portgroup": "portgroup_uuid"}

    properties = {
        "address": declare.string("MAC address.", required=True, update_allowed=True),
        "extra": declare.mapping("Additional metadata of the port.", update_allowed=True),
        "is_smartnic": declare.boolean("Whether the port is a smart NIC.", update_allowed=True),
        "local_link_connection": declare.mapping(
            "Switch port that the interface is connected to.", update_allowed=True
        ),
        "node": declare.by_name("ironic.node", "Node", required=True, update_allowed=True),
        "physical_network": declare.string("Physical network.", update_allowed=True),
        "portgroup": declare.by_name("ironic.portgroup", "Port group", update_allowed=True),
        "pxe_enabled": declare.boolean(
            "Whether the node can boot from the network through this port.", update_allowed=True
        ),
    }
    attributes = {
        "address": Attribute("MAC address.", Type.STRING),
        "extra": Attribute("Additional metadata of the port.", Type.MAP),
        "internal_info": Attribute("Internal metadata of the service.", Type.MAP),
        "is_smartnic": Attribute("Whether the port is a smart NIC.", Type.BOOLEAN),
        "local_link_connection": Attribute(
            "Switch port that the interface is connected to.", Type.MAP
        ),
        "node_uuid": Attribute("Id of the node.", Type.STRING),
        "physical_network": Attribute("Physical network.", Type.STRING),
        "portgroup_uuid": Attribute("Id of the port group.", Type.STRING),
        "pxe_enabled": Attribute(
            "Whether the node can boot from the network through this port.", Type.BOOLEAN
        ),
        "show": declare.SHOW,
    }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List the ports with the MAC address."""
        return self.collection.select(call.cloud, address=like["address"])
