"""AWS::EC2::SubnetRouteTableAssociation: connects a subnet to a route table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collections import ROUTERS, SUBNETS
from stoker.resources.base import declare
from stoker.resources.shared.networks.ec2 import (
    connect,
    disconnect,
    router_of,
    routers_at,
    table_mark,
)
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome


class SubnetRouteTableAssociation(ManagedType):
    """A subnet at a route table, instead of the router of its virtual private cloud."""

    type_name = "AWS::EC2::SubnetRouteTableAssociation"
    id_form = "ROUTE_TABLE:SUBNET"
    description = "Gives a subnet the routes of a route table."
    service = "network"
    unique = True
    link = "subnet association"

    properties = {
        "RouteTableId": declare.string("Id of the route table.", required=True),
        "SubnetId": declare.by_name("neutron.subnet", "Subnet", required=True),
    }

    def create(self, call: Call) -> Outcome:
        """Disconnect the subnet from the router of its VPC, and connect it to the route table.

        Fail if it is connected to a router outside of the virtual private cloud.
        """
        table, subnet = call.properties["RouteTableId"], call.properties["SubnetId"]
        network = str(SUBNETS.get(call.cloud, subnet)["network_id"])
        routers = [router for router in routers_at(call.cloud, subnet) if router != table]
        for router in routers:
            if not _belongs(call, router, network):
                return Failed(
                    f"the subnet {subnet} is connected to the router {router}, which does not"
                    " belong to its virtual private cloud; disconnect it first"
                )
        for router in routers:
            disconnect(call.cloud, router, subnet)
        connect(call.cloud, table, subnet)
        return Done(f"{table}:{subnet}")

    def delete(self, call: Call) -> Outcome:
        """Connect the subnet to the router of its virtual private cloud again."""
        table, _, subnet = (call.physical_id or "").partition(":")
        found = SUBNETS.find(call.cloud, subnet) if subnet else None
        if found is None:
            return Done()
        disconnect(call.cloud, table, subnet)
        router = router_of(call.cloud, found["network_id"])
        if router is not None and not routers_at(call.cloud, subnet):
            connect(call.cloud, router["id"], subnet)
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the association, if the route table has the subnet."""
        table, subnet = call.properties["RouteTableId"], call.properties["SubnetId"]
        return f"{table}:{subnet}" if table in routers_at(call.cloud, subnet) else None

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties, if the association exists."""
        return None if self.find(call) is None else dict(call.properties)

    def check(self, call: Call) -> Outcome:
        """Check that the route table has the subnet."""
        if self.find(call) is None:
            return Failed(f"the route table does not have the subnet: {call.physical_id}")
        return Done()


def _belongs(call: Call, router: str, network: str) -> bool:
    """Return whether a router is that of a virtual private cloud, or one of its route tables."""
    own = router_of(call.cloud, network)
    if own is not None and own["id"] == router:
        return True
    found = ROUTERS.find(call.cloud, router) or {}
    return bool(found.get("description") == table_mark(network))
