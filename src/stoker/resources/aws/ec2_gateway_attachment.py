"""AWS::EC2::VPCGatewayAttachment: connects a virtual private cloud to the external network."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import ROUTERS
from stoker.resources.base import declare
from stoker.resources.base.network_order import Others
from stoker.resources.shared.networks.ec2 import external_network, table_mark
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

_TABLE = "AWS::EC2::RouteTable"
_ATTACHED = "way out of a virtual private cloud"
_BEFORE = "before"  # Key of the data: route tables that had a gateway before the create.


def _has(table: Object) -> bool:
    return bool(table.get("external_gateway_info"))


def _tables(call: Call) -> list[Object]:
    mark = table_mark(call.properties["VpcId"])
    found = ROUTERS.select(call.cloud, description=mark)
    return [router for router in found if router.get("description") == mark]


class VPCGatewayAttachment(ManagedType):
    """The gateways of the route tables of a virtual private cloud."""

    type_name = "AWS::EC2::VPCGatewayAttachment"
    not_importable = "an attachment has no id"
    description = "Connects a virtual private cloud to the external network."
    service = "network"
    unique = True
    finds_own = True
    shares = frozenset({_ATTACHED})

    properties = {
        "InternetGatewayId": declare.string("Id of the internet gateway."),
        "VpcId": declare.string("Id of the virtual private cloud.", required=True),
        "VpnGatewayId": declare.string("Not available.", implemented=False),
    }

    def create(self, call: Call) -> Outcome:
        """Set the gateway of all route tables. Those that have one are recorded and keep it."""
        if _BEFORE not in call.data:
            is_ours = set(self.parts(call)) <= call.shared
            before = [] if is_ours else [each["id"] for each in _tables(call) if _has(each)]
            return Wait(after=0.0, data={**call.data, _BEFORE: before})
        network = external_network(call.cloud)
        for table in _tables(call):
            gateway = {"network_id": network}
            ROUTERS.update(call.cloud, table["id"], {"external_gateway_info": gateway})
        return Done(call.physical_name)

    def delete(self, call: Call) -> Outcome:
        """Remove the gateways, unless another resource attaches the same virtual private cloud."""
        if call.physical_id is not None and not set(self.parts(call)) <= call.shared:
            before = call.data.get(_BEFORE, ())
            for table in [each for each in _tables(call) if each["id"] not in before]:
                ROUTERS.update(call.cloud, table["id"], {"external_gateway_info": {}})
        return Done()

    def parts(self, call: Call) -> Collection[str]:
        """Return the connection of the virtual private cloud as shared part."""
        return {f"{_ATTACHED} {call.properties['VpcId']}"}

    def find(self, call: Call) -> str | None:
        """Return the attachment, if all route tables have a gateway."""
        tables = _tables(call)
        attached = tables and all(table.get("external_gateway_info") for table in tables)
        return call.physical_name if attached else None

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties, if all route tables have a gateway."""
        tables = _tables(call)
        detached = any(not table.get("external_gateway_info") for table in tables)
        return None if detached else dict(call.properties)

    def check(self, call: Call) -> Outcome:
        """Check that all route tables have a gateway."""
        if self.live(call) is None:
            return Failed(f"route tables of {call.properties['VpcId']} have no gateway")
        return Done()

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the route tables of the virtual private cloud."""
        desired = properties.get("VpcId")
        return frozenset(
            name
            for name, (type_name, theirs) in others.items()
            if type_name == _TABLE and theirs.get("VpcId") == desired
        )
