"""OS::Neutron::FloatingIP: an address of an external network.

Floating IPs have no name. The description holds the marker.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import FLOATING_IPS
from stoker.resources.base import declare
from stoker.resources.base.network_faults import unreachable_port
from stoker.resources.base.network_order import Others, gateways_to, interfaces_towards, subnets_of
from stoker.resources.base.rest import RestResource
from stoker.resources.neutron.declarations import DNS_DOMAIN, FIXED_IP_ADDRESS
from stoker.resources.shared.networks.port_addresses import LEADS, association_part
from stoker.schema.properties import Attribute, Interruption, Type
from stoker.schema.resource_type import VALUES, Call, Impossible
from stoker.schema.resource_type.neighbours import Neighbours, first_value
from stoker.schema.support import deprecated, hidden, since

_ASSOCIATED = frozenset({"port_id", "fixed_ip_address"})


class FloatingIP(RestResource):
    """A floating IP."""

    type_name = "OS::Neutron::FloatingIP"
    uses_early = frozenset({VALUES})
    description = "An address of an external network, associated with a port."
    service = "network"
    collection = FLOATING_IPS
    quota = "network/floatingip"
    shares = frozenset({LEADS})
    clear_values = {"dns_domain": "", "dns_name": ""}
    field_names = {"floating_network": "floating_network_id", "floating_subnet": "subnet_id"}

    properties = {
        "dns_domain": DNS_DOMAIN,
        "dns_name": declare.checked(
            "rel_dns_name", "DNS name of the address.", update_allowed=True, support=since("7.0.0")
        ),
        "fixed_ip_address": FIXED_IP_ADDRESS,
        "floating_ip_address": declare.checked(
            "ip_addr", "Specific address to request.", support=since("5.0.0")
        ),
        "floating_network": declare.by_name(
            "neutron.network", "External network", required=True, support=since("2014.2")
        ),
        "floating_network_id": declare.old_name(
            "floating_network", "neutron.network", hidden("5.0.0", deprecated("2014.2"))
        ),
        "floating_subnet": declare.by_name(
            "neutron.subnet", "External subnet of the address", support=since("9.0.0")
        ),
        "port_id": declare.by_name(
            "neutron.port",
            "Port",
            update_allowed=True,
            interruption=Interruption("connections through the address are interrupted"),
        ),
        "value_specs": declare.mapping(
            "Additional fields, passed to the service unchanged.", default={}
        ),
    }
    attributes = {
        "fixed_ip_address": Attribute("Fixed address of the port.", type=Type.STRING, cached=False),
        "floating_ip_address": Attribute("The floating IP address.", type=Type.STRING),
        "floating_network_id": Attribute("Id of the external network.", type=Type.STRING),
        "port_id": Attribute("Id of the associated port.", type=Type.STRING, cached=False),
        "router_id": Attribute(
            "Id of the router between external network and port.", type=Type.STRING
        ),
        "tenant_id": Attribute("Id of the project.", type=Type.STRING),
        "show": declare.SHOW,
    }

    def changed_fields(self, call: Call) -> Object:
        """Return the fields that an update sends; an association that is a resource of the stack as
        well stays."""
        body = super().changed_fields(call)
        loses_port = body.keys() & _ASSOCIATED and call.properties.get("port_id") is None
        if loses_port and association_part(call.object_id) in call.shared:
            return {name: value for name, value in body.items() if name not in _ASSOCIATED}
        return body

    def parts(self, call: Call) -> Collection[str]:
        """Return the association with a port as shared part."""
        if call.physical_id is None or call.properties.get("port_id") is None:
            return ()
        return {association_part(call.physical_id)}

    def exclusive_objects(self, properties: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the port's address: only one floating IP can be associated with it."""
        port, address = properties.get("port_id"), properties.get("fixed_ip_address")
        if not isinstance(port, str):
            return {}
        return {f"floating IP of {port} {address}": f"the floating IP of port {port}"}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the external subnets, routers and interfaces between the address and its port."""
        network = first_value(properties, "floating_network", "floating_network_id")
        return frozenset(
            subnets_of(network, others)
            | gateways_to(network, others)
            | interfaces_towards(properties.get("port_id"), others)
        )

    def impossible_beside(
        self, properties: Mapping[str, Any], others: Neighbours, existing: Collection[str]
    ) -> Sequence[Impossible]:
        """Return a fault if no router leads from the external network to the port."""
        return unreachable_port(properties.get("port_id"), others, existing)
