"""OS::Neutron::FirewallRule: allows or denies traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call


class FirewallRule(RestResource):
    """A firewall rule."""

    type_name = "OS::Neutron::FirewallRule"
    description = "Allows or denies certain traffic through a firewall."
    service = "network"
    extension = "fwaas"
    collection = collection(
        "network", "firewall_rule", path="/fw/firewall_rules", words="firewall rule"
    )
    clear_values = {"description": "", "protocol": None}

    properties = {
        "action": declare.choice(
            ["allow", "deny"], "Action for the traffic.", default="deny", update_allowed=True
        ),
        "description": declare.DESCRIPTION,
        "destination_ip_address": declare.checked(
            "net_cidr", "Destination addresses in CIDR notation.", update_allowed=True
        ),
        "destination_port": declare.string(
            "Destination port, or range of ports.", update_allowed=True
        ),
        "enabled": declare.boolean(
            "Whether the rule is enabled.", default=True, update_allowed=True
        ),
        "ip_version": declare.choice(
            ["4", "6"], "IP version of the traffic.", default="4", update_allowed=True
        ),
        "name": declare.NAME,
        "protocol": declare.choice(
            ["tcp", "udp", "icmp", "any"],
            "Protocol of the traffic.",
            default="any",
            update_allowed=True,
        ),
        "shared": declare.SHARED,
        "source_ip_address": declare.checked(
            "net_cidr", "Source addresses in CIDR notation.", update_allowed=True
        ),
        "source_port": declare.string("Source port, or range of ports.", update_allowed=True),
    }
    attributes = {
        "action": Attribute("Action for the traffic.", Type.STRING),
        "description": Attribute("Description of the object.", Type.STRING),
        "destination_ip_address": Attribute("Destination addresses.", Type.STRING),
        "destination_port": Attribute("Destination port.", Type.STRING),
        "enabled": Attribute("Whether the rule is enabled.", Type.STRING),
        "firewall_policy_id": Attribute("Id of the policy.", Type.STRING),
        "ip_version": Attribute("IP version of the traffic.", Type.STRING),
        "name": Attribute("Name of the object.", Type.STRING),
        "position": Attribute("Position in the policy.", Type.STRING),
        "protocol": Attribute("Protocol of the traffic.", Type.STRING),
        "shared": Attribute("Whether other projects can use the object.", Type.STRING),
        "source_ip_address": Attribute("Source addresses.", Type.STRING),
        "source_port": Attribute("Source port.", Type.STRING),
        "tenant_id": Attribute("Id of the project.", Type.STRING),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields; any protocol is none in the service's words."""
        body = super().fields(properties)
        return {**body, "protocol": None} if body.get("protocol") == "any" else body

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the fields; no protocol is any."""
        observed = super().properties_of(call, found)
        return {**observed, "protocol": observed.get("protocol") or "any"}
