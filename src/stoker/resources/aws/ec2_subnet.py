"""AWS::EC2::Subnet: a subnet of a virtual private cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import SUBNETS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.networks.ec2 import TAGS, connect, disconnect, router_of, routers_at
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Outcome, Wait


class Subnet(RestResource):
    """A subnet, connected with the router of its virtual private cloud."""

    type_name = "AWS::EC2::Subnet"
    description = "A subnet of a virtual private cloud."
    service = "network"
    collection = SUBNETS
    has_name = True
    marker_field = ""
    field_names = {"CidrBlock": "cidr", "VpcId": "network_id"}

    properties = {
        "AvailabilityZone": declare.string("Availability zone of the subnet."),
        "CidrBlock": declare.string("Addresses of the subnet, in CIDR notation.", required=True),
        "Tags": TAGS,
        "VpcId": declare.string("Id of the virtual private cloud.", required=True),
    }
    attributes = {
        "AvailabilityZone": Attribute("Availability zone of the subnet.", Type.STRING),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return network and addresses. Neutron's subnets have no zone."""
        own = {name: properties.get(name) for name in self.field_names}
        return {**super().fields(own), "ip_version": 4}

    def create(self, call: Call) -> Outcome:
        """Create the subnet, then connect it to the router."""
        outcome = super().create(call)
        if call.physical_id is None:
            subnet_id = outcome.physical_id
            return outcome if subnet_id is None else Wait(after=0.0, physical_id=subnet_id)
        if isinstance(outcome, Done) and not routers_at(call.cloud, call.physical_id):
            router = router_of(call.cloud, call.properties["VpcId"])
            if router is not None:
                connect(call.cloud, router["id"], call.physical_id)
        return outcome

    def delete(self, call: Call) -> Outcome:
        """Disconnect the subnet from its router, then delete it."""
        if call.physical_id is not None:
            for router in routers_at(call.cloud, call.physical_id):
                disconnect(call.cloud, router, call.physical_id)
        return super().delete(call)

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the zone that was given."""
        return {"AvailabilityZone": call.properties.get("AvailabilityZone")}
