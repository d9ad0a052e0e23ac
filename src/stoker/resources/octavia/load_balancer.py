"""OS::Octavia::LoadBalancer: an address whose traffic is distributed over servers."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since


class LoadBalancer(Balanced):
    """A load balancer."""

    type_name = "OS::Octavia::LoadBalancer"
    description = "An address whose traffic is distributed over servers."
    support = since("10.0.0")
    collection = KINDS["load-balancer", "loadbalancer"]
    field_names = {
        "availability_zone": "availability_zone",
        "flavor": "flavor_id",
        "tenant_id": "project_id",
        "vip_subnet": "vip_subnet_id",
    }

    # Listeners and pools need a load balancer that is ready; its address exists from the start.
    early_attributes = frozenset({"vip_address", "vip_port_id", "vip_subnet_id"})
    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "availability_zone": declare.by_name(
            "octavia.availabilityzone",
            "Availability zone of the load balancer",
            support=since("17.0.0"),
        ),
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "flavor": declare.by_name(
            "octavia.flavor", "Flavor of the load balancer", support=since("14.0.0")
        ),
        "name": declare.NAME,
        "provider": declare.string("Provider of the load balancer."),
        "tenant_id": declare.by_name("keystone.project", "Project that owns the load balancer"),
        "vip_address": declare.checked("ip_addr", "Specific address to request."),
        "vip_subnet": declare.by_name("neutron.subnet", "Subnet of the address", required=True),
    }
    attributes = {
        "flavor_id": Attribute("Id of the flavor.", Type.STRING),
        "pools": Attribute("Pools of the load balancer.", Type.LIST),
        "vip_address": Attribute("The address.", Type.STRING),
        "vip_port_id": Attribute("Id of the port that has the address.", Type.STRING),
        "vip_subnet_id": Attribute("Id of the subnet of the address.", Type.STRING),
        "show": declare.SHOW,
    }
