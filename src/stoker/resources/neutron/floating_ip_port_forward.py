"""OS::Neutron::FloatingIPPortForward: forwards a port of a floating IP to a server.

Each port of an address can be forwarded once for each protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.constraints import Range
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class FloatingIPPortForward(RestResource):
    """A forwarded port."""

    type_name = "OS::Neutron::FloatingIPPortForward"
    description = "Forwards a port of a floating IP to a port of a server."
    service = "network"
    support = since("19.0.0")
    extension = "floating-ip-port-forwarding"
    unique = True
    collection = collection(
        "network",
        "port_forwarding",
        path="/floatingips/{}/port_forwardings",
        plural="port_forwardings",
        words="port forwarding",
    )
    parent_property = "floating_ip"
    marker_field = ""
    identity_fields = ("external_port", "protocol")
    field_names = {"internal_port": "internal_port_id", "internal_port_number": "internal_port"}

    properties = {
        "external_port": declare.integer(
            "Port of the floating IP.",
            required=True,
            update_allowed=True,
            constraints=(Range(min=1, max=65535),),
        ),
        "floating_ip": declare.string("Id of the floating IP.", required=True),
        "internal_ip_address": declare.checked(
            "ip_addr", "Address of the server.", required=True, update_allowed=True
        ),
        "internal_port": declare.by_name(
            "neutron.port", "Port of the server in the network", required=True, update_allowed=True
        ),
        "internal_port_number": declare.integer(
            "TCP or UDP port of the server.",
            update_allowed=True,
            constraints=(Range(min=1, max=65535),),
        ),
        "protocol": declare.choice(
            ["tcp", "udp", "icmp", "icmp6", "sctp", "dccp"],
            "Protocol of the traffic.",
            required=True,
            update_allowed=True,
        ),
    }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all forwarded ports of the address."""
        return self.of(call).select(call.cloud)
