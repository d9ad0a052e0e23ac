"""AWS::EC2::EIP: a floating IP.

Floating IPs have no name. The description holds the marker.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import FLOATING_IPS, PORTS
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.network_order import Others
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.networks.ec2 import external_network, port_of
from stoker.resources.shared.networks.port_addresses import LEADS, association_part
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Outcome
from stoker.schema.support import deprecated

_OUT = "AWS::EC2::VPCGatewayAttachment"


class ElasticIp(RestResource):
    """A floating IP. A reference to it is the address."""

    type_name = "AWS::EC2::EIP"
    not_importable = "its references need the address from its create"
    description = "An address of the external network."
    service = "network"
    collection = FLOATING_IPS
    shares = frozenset({LEADS})

    properties = {
        "Domain": declare.choice(["vpc"], "Type of the address.", support=deprecated("9.0.0")),
        "InstanceId": declare.by_name(
            "nova.server", "Server to associate the address with", update_allowed=True
        ),
    }
    attributes = {
        "AllocationId": Attribute("Id of the address in the network service.", Type.STRING),
        "show": declare.SHOW,
    }

    def creation_body(self, call: Call) -> Object:
        """Return the fields, with the external network and the port of the server."""
        body: Object = {"floating_network_id": external_network(call.cloud)}
        server = call.properties.get("InstanceId")
        return body if server is None else {**body, "port_id": port_of(call.cloud, server)}

    def changed_fields(self, call: Call) -> Object:
        """Return the port of the server, or null.

        An association that is a resource of the stack stays.
        """
        server = call.properties.get("InstanceId")
        if server is None and association_part(call.object_id) in call.shared:
            return {}
        return {"port_id": None if server is None else port_of(call.cloud, server)}

    def parts(self, call: Call) -> Collection[str]:
        """Return the association with a server as shared part."""
        if call.physical_id is None or call.properties.get("InstanceId") is None:
            return ()
        return {association_part(call.physical_id)}

    def judge(self, call: Call, found: Object) -> Outcome:
        """Return the outcome, with the address for references."""
        outcome = super().judge(call, found)
        data = {**call.data, "address": found.get("floating_ip_address")}
        return replace(outcome, data=data) if isinstance(outcome, Done) else outcome

    def reference(self, call: Call) -> Any:
        """Return the address."""
        return call.data.get("address") or super().reference(call)

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the id of the allocation."""
        return {"AllocationId": found["id"]}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the server that the address is associated with."""
        port = found.get("port_id")
        owner = None if port is None else PORTS.find(call.cloud, port)
        return {"InstanceId": (owner or {}).get("device_id")}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the routers to the external network; an association needs one of them."""
        return frozenset(name for name, (type_name, _) in others.items() if type_name == _OUT)
