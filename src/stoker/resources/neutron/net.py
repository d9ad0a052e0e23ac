"""OS::Neutron::Net: a network."""

from __future__ import annotations

from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import NETWORKS
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness
from stoker.resources.neutron.agents import hosted_by
from stoker.resources.neutron.declarations import DNS_DOMAIN, PORT_SECURITY, QOS_POLICY_ID
from stoker.resources.neutron.sharing import Shareable, without_granted_sharing
from stoker.resources.neutron.tags import tags_of
from stoker.resources.shared.networks.port_users import ports_in_network
from stoker.resources.shared.networks.ports import PORT_SECURITY_ENABLED, QOS_POLICY
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Net(Shareable):
    """A network of the project."""

    type_name = "OS::Neutron::Net"
    description = "A network."
    service = "network"
    collection = NETWORKS
    quota = "network/network"
    users = staticmethod(ports_in_network)
    clear_values = {"port_security_enabled": True, "dns_domain": ""}
    readiness = Readiness(pending=frozenset({"BUILD"}))
    field_names = {"qos_policy": "qos_policy_id"}
    follow_up_requests = (
        tags_of(NETWORKS),
        hosted_by(NETWORKS, "dhcp_agent_ids", "dhcp-agents", "dhcp-networks"),
    )

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "availability_zone_hints": declare.sequence(
            "Availability zones for the network's agents.", support=since("19.0.0")
        ),
        "dhcp_agent_ids": declare.sequence(
            "DHCP agents of the network. For administrators only.", update_allowed=True
        ),
        "dns_domain": DNS_DOMAIN,
        "name": declare.NAME,
        "port_security_enabled": PORT_SECURITY_ENABLED,
        "qos_policy": QOS_POLICY,
        "shared": declare.SHARED,
        "tags": declare.tags("9.0.0"),
        "tenant_id": declare.TENANT_ID,
        "value_specs": declare.VALUE_SPECS,
    }
    attributes = {
        "admin_state_up": Attribute("Administrative state of the object.", type=Type.STRING),
        "l2_adjacency": Attribute(
            "Whether all ports of the network are in one layer-2 segment.",
            type=Type.BOOLEAN,
            support=since("9.0.0"),
        ),
        "mtu": Attribute(
            "Maximum transmission unit, in bytes.", type=Type.INTEGER, support=since("5.0.0")
        ),
        "name": Attribute("Name of the object.", type=Type.STRING),
        "port_security_enabled": PORT_SECURITY,
        "qos_policy_id": QOS_POLICY_ID,
        "segments": Attribute("Segments of the network.", type=Type.LIST, support=since("11.0.0")),
        "status": Attribute("Status of the object.", type=Type.STRING),
        "subnets": Attribute("Subnets of the object.", type=Type.LIST),
        "tenant_id": Attribute("Id of the project.", type=Type.STRING),
        "show": declare.SHOW,
    }

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the fields without sharing by RBAC policies, which is not compared."""
        return without_granted_sharing(call, super().properties_of(call, found))
