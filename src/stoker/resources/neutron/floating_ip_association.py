"""OS::Neutron::FloatingIPAssociation: associates a floating IP with a port.

The association is a field of the floating IP, so the id is ``<floating IP>:<port>``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collections import FLOATING_IPS
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.network_faults import unreachable_port
from stoker.resources.base.network_order import Others, interfaces_towards
from stoker.resources.neutron.declarations import FIXED_IP_ADDRESS
from stoker.resources.shared.networks.port_addresses import LEADS, association_part, associations
from stoker.schema.properties import Interruption
from stoker.schema.resource_type import (
    VALUES,
    Call,
    Done,
    Failed,
    Impossible,
    ManagedType,
    Outcome,
)
from stoker.schema.resource_type.neighbours import Neighbours

_MOVED = Interruption("connections through the address are interrupted")


class FloatingIPAssociation(ManagedType):
    """An association of a floating IP with a port."""

    type_name = "OS::Neutron::FloatingIPAssociation"
    uses_early = frozenset({VALUES})
    id_form = "FLOATING_IP:PORT"
    description = "Associates a floating IP with a port."
    service = "network"
    unique = True
    link = LEADS
    shares = frozenset({LEADS})

    properties = {
        "fixed_ip_address": FIXED_IP_ADDRESS,
        "floatingip_id": declare.string(
            "Id of the floating IP.", required=True, update_allowed=True, interruption=_MOVED
        ),
        "port_id": declare.by_name(
            "neutron.port", "Port", required=True, update_allowed=True, interruption=_MOVED
        ),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Associate the address with the port. Repeating it changes nothing."""
        floating_ip, port = call.properties["floatingip_id"], call.properties["port_id"]
        body = {"port_id": port}
        if call.properties.get("fixed_ip_address") is not None:
            body["fixed_ip_address"] = call.properties["fixed_ip_address"]
        FLOATING_IPS.update(call.cloud, floating_ip, body)
        return Done(f"{floating_ip}:{port}")

    def joined(self, call: Call) -> tuple[str, str]:
        """Return the ids of the floating IP and of the port that the object joins.

        The id of an adopted stack of Heat is a number; the properties then name both.
        """
        floating_ip, separator, port = (call.physical_id or "").partition(":")
        if separator:
            return floating_ip, port
        return call.properties["floatingip_id"], call.properties["port_id"]

    def update(self, call: Call) -> Outcome:
        """Move the association."""
        if "floatingip_id" in call.update.changed:
            self.delete(replace(call, properties=call.update.previous))
        return self.create(call)

    def delete(self, call: Call) -> Outcome:
        """Disassociate the address, unless it is associated with another port now."""
        if not call.physical_id:
            return Done()
        floating_ip, port = self.joined(call)
        found = FLOATING_IPS.find(call.cloud, floating_ip)
        if found is not None and found.get("port_id") == port:
            FLOATING_IPS.update(call.cloud, floating_ip, {"port_id": None})
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the association, if the address is associated with the port."""
        floating_ip, port = call.properties["floatingip_id"], call.properties["port_id"]
        found = FLOATING_IPS.find(call.cloud, floating_ip)
        return f"{floating_ip}:{port}" if found and found.get("port_id") == port else None

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the association of the address with any port, which a create would replace."""
        return associations(call.cloud, call.properties["floatingip_id"])

    def parts(self, call: Call) -> Collection[str]:
        """Return the association of the floating IP as shared part."""
        return {association_part(call.properties["floatingip_id"])}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return floating IP and port; None if the floating IP has no port."""
        found = FLOATING_IPS.find(call.cloud, self.joined(call)[0])
        if found is None or not found.get("port_id"):
            return None
        observed = {name: found.get(name) for name in ("port_id", "fixed_ip_address")}
        return {"floatingip_id": found["id"], **observed}

    def check(self, call: Call) -> Outcome:
        """Check that the address is still associated with the port."""
        floating_ip, port = self.joined(call)
        found = FLOATING_IPS.find(call.cloud, floating_ip)
        if found is None or found.get("port_id") != port:
            return Failed(f"the floating IP {floating_ip} is no longer associated with port {port}")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the floating IP."""
        return {"show": FLOATING_IPS.get(call.cloud, self.joined(call)[0])}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the router interfaces on the subnets of the port."""
        return frozenset(interfaces_towards(properties.get("port_id"), others))

    def impossible_beside(
        self, properties: Mapping[str, Any], others: Neighbours, existing: Collection[str]
    ) -> Sequence[Impossible]:
        """Return a fault if no router leads from the external network to the port."""
        return unreachable_port(properties.get("port_id"), others, existing)
