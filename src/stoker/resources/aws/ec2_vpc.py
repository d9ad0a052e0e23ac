"""AWS::EC2::VPC: a virtual private cloud, which is a network and a router."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import NETWORKS, ROUTERS
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource
from stoker.resources.shared.networks.ec2 import TAGS, router_of
from stoker.schema.resource_type import Call, Done, Outcome, Wait


class VPC(RestResource):
    """A network, and a router of the same name."""

    type_name = "AWS::EC2::VPC"
    description = "A virtual private cloud: a network with a router."
    service = "network"
    collection = NETWORKS
    has_name = True
    marker_field = ""
    readiness = Readiness(pending=frozenset({"BUILD"}))

    properties = {
        "CidrBlock": declare.string(
            "Addresses of the virtual private cloud. Not checked; each subnet has its own range."
        ),
        "InstanceTenancy": declare.choice(
            ["default", "dedicated"], "Not available.", default="default", implemented=False
        ),
        "Tags": TAGS,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return no fields; there is only the name."""
        return {}

    def create(self, call: Call) -> Outcome:
        """Create the network, then the router."""
        outcome = super().create(call)
        if call.physical_id is None:
            vpc_id = outcome.physical_id
            return outcome if vpc_id is None else Wait(after=0.0, physical_id=vpc_id)
        if isinstance(outcome, Done) and router_of(call.cloud, call.physical_id) is None:
            ROUTERS.create(call.cloud, {"name": call.physical_name})
        return outcome

    def delete(self, call: Call) -> Outcome:
        """Delete the router, then the network."""
        if call.physical_id is not None:
            router = router_of(call.cloud, call.physical_id)
            if router is not None:
                ROUTERS.delete(call.cloud, router["id"])
        return super().delete(call)
