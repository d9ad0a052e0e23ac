"""AWS::EC2::EIPAssociation: associates a floating IP with a server or an interface."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import FLOATING_IPS
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.errors import NotFoundError
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.network_order import Others
from stoker.resources.shared.networks.ec2 import address_called, port_of
from stoker.resources.shared.networks.port_addresses import LEADS, association_part, associations
from stoker.schema.resource_type import VALUES, Call, Done, Failed, ManagedType, Outcome

_OUT = "AWS::EC2::VPCGatewayAttachment"


class ElasticIpAssociation(ManagedType):
    """An association of a floating IP with a server or an interface."""

    type_name = "AWS::EC2::EIPAssociation"
    uses_early = frozenset({VALUES, "server"})
    id_form = "FLOATING_IP:PORT"
    description = "Associates an address with a server or an interface."
    service = "network"
    unique = True
    link = LEADS
    shares = frozenset({LEADS})

    properties = {
        "AllocationId": declare.string("Id of the address.", update_allowed=True),
        "EIP": declare.checked("ip_addr", "The address.", update_allowed=True),
        "InstanceId": declare.by_name("nova.server", "Server", update_allowed=True),
        "NetworkInterfaceId": declare.string("Id of the network interface.", update_allowed=True),
    }

    def create(self, call: Call) -> Outcome:
        """Associate the address. Repeating it changes nothing."""
        address, port = self.ends(call)
        FLOATING_IPS.update(call.cloud, address, {"port_id": port})
        return Done(f"{address}:{port}")

    def ends(self, call: Call) -> tuple[str, str]:
        """Return the ids of the floating IP and of its port."""
        return self.floating_ip(call), _port(call)

    def floating_ip(self, call: Call) -> str:
        """Return the id of the floating IP."""
        return _address(call)

    def joined(self, call: Call) -> tuple[str, str]:
        """Return the ids of the floating IP and of the port that the object joins.

        The id of a stack from Heat is the floating IP or its address, and does not name the port.
        """
        address, separator, port = (call.physical_id or "").partition(":")
        return (address, port) if separator else self.ends(call)

    def leading(self, call: Call) -> Object | None:
        """Return the floating IP, if it still leads to the port."""
        if not call.physical_id:
            return None
        try:
            address, port = self.joined(call)
        except NotFoundError:
            return None  # a deleted server has no address
        found = FLOATING_IPS.find(call.cloud, address)
        return found if found is not None and found.get("port_id") == port else None

    def update(self, call: Call) -> Outcome:
        """Move the association."""
        address, port = self.ends(call)
        if f"{address}:{port}" != call.physical_id:
            self.delete(replace(call, properties=call.update.previous))
        return self.create(call)

    def delete(self, call: Call) -> Outcome:
        """Disassociate the address, unless it is associated with another port now."""
        found = self.leading(call)
        if found is not None:
            FLOATING_IPS.update(call.cloud, found["id"], {"port_id": None})
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the association, if the address is associated with the port."""
        address, port = self.ends(call)
        found = FLOATING_IPS.find(call.cloud, address)
        return f"{address}:{port}" if found and found.get("port_id") == port else None

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the association of the address with any port, which a create would replace."""
        return associations(call.cloud, self.ends(call)[0])

    def parts(self, call: Call) -> Collection[str]:
        """Return the association of the address as shared part."""
        address, separator, _ = (call.physical_id or "").partition(":")
        return {association_part(address if separator else self.floating_ip(call))}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties as they were given, if the address leads to the port."""
        address, port = self.joined(call)
        found = FLOATING_IPS.find(call.cloud, address)
        if found is None or not found.get("port_id"):
            return None
        if found["port_id"] == port:
            return dict(call.properties)
        return {**call.properties, "InstanceId": None, "NetworkInterfaceId": found["port_id"]}

    def check(self, call: Call) -> Outcome:
        """Check that the address is still associated with the port."""
        if self.leading(call) is None:
            return Failed(f"the address of {call.physical_id} no longer leads to its port")
        return Done()

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that one address, and one server or interface is given."""
        return [
            Diagnostic("invalid-association", f"one of {one} and {other} must be given")
            for one, other in (("EIP", "AllocationId"), ("InstanceId", "NetworkInterfaceId"))
            if properties.get(one) is None and properties.get(other) is None
        ]

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the routers to the external network; the association needs one of them."""
        return frozenset(name for name, (type_name, _) in others.items() if type_name == _OUT)


def _address(call: Call) -> str:
    allocation_id = call.properties.get("AllocationId")
    return str(allocation_id or address_called(call.cloud, call.properties["EIP"])["id"])


def _port(call: Call) -> str:
    interface_id = call.properties.get("NetworkInterfaceId")
    return str(interface_id or port_of(call.cloud, call.properties["InstanceId"]))
