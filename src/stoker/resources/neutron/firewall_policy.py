"""OS::Neutron::FirewallPolicy: the rules of a firewall, in their order."""

from __future__ import annotations

from stoker.clouds.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type


class FirewallPolicy(RestResource):
    """A firewall policy."""

    type_name = "OS::Neutron::FirewallPolicy"
    description = "The rules of a firewall, in their order."
    service = "network"
    extension = "fwaas"
    collection = collection(
        "network", "firewall_policy", path="/fw/firewall_policies", plural="firewall_policies"
    )
    clear_values = {"description": "", "firewall_rules": []}

    properties = {
        "audited": declare.boolean(
            "Whether somebody has looked at the policy.", default=False, update_allowed=True
        ),
        "description": declare.DESCRIPTION,
        "firewall_rules": declare.sequence(
            "Ids of the rules, in their order.", update_allowed=True
        ),
        "name": declare.NAME,
        "shared": declare.SHARED,
    }
    attributes = {
        "audited": Attribute("Whether somebody has looked at the policy.", Type.STRING),
        "description": Attribute("Description of the object.", Type.STRING),
        "firewall_rules": Attribute("Ids of the rules.", Type.LIST),
        "name": Attribute("Name of the object.", Type.STRING),
        "shared": Attribute("Whether other projects can use the object.", Type.STRING),
        "tenant_id": Attribute("Id of the project.", Type.STRING),
        "show": declare.SHOW,
    }
