"""OS::Neutron::FirewallPolicy: an ordered list of firewall rules."""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type


class FirewallPolicy(RestResource):
    """A firewall policy."""

    type_name = "OS::Neutron::FirewallPolicy"
    description = "An ordered list of firewall rules."
    service = "network"
    extension = "fwaas"
    collection = collection(
        "network", "firewall_policy", path="/fw/firewall_policies", plural="firewall_policies"
    )
    clear_values = {"description": "", "firewall_rules": []}

    properties = {
        "audited": declare.boolean(
            "Whether the policy was audited.", default=False, update_allowed=True
        ),
        "description": declare.DESCRIPTION,
        "firewall_rules": declare.sequence("Ids of the rules, in order.", update_allowed=True),
        "name": declare.NAME,
        "shared": declare.SHARED,
    }
    attributes = {
        "audited": Attribute("Whether the policy was audited.", Type.STRING),
        "description": Attribute("Description of the object.", Type.STRING),
        "firewall_rules": Attribute("Ids of the rules.", Type.LIST),
        "name": Attribute("Name of the object.", Type.STRING),
        "shared": Attribute("Whether other projects can use the object.", Type.STRING),
        "tenant_id": Attribute("Id of the project.", Type.STRING),
        "show": declare.SHOW,
    }
