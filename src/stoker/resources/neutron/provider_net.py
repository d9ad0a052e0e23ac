"""OS::Neutron::ProviderNet: a network with a physical network that an administrator chooses."""

from __future__ import annotations

from stoker.clouds.objects.collections import NETWORKS
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness
from stoker.resources.neutron.declarations import DNS_DOMAIN
from stoker.resources.neutron.sharing import Shareable
from stoker.resources.neutron.tags import tags_of
from stoker.resources.shared.networks.ports import PORT_SECURITY_ENABLED
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since


class ProviderNet(Shareable):
    """A provider network."""

    type_name = "OS::Neutron::ProviderNet"
    description = "A network on a physical network of the cloud."
    service = "network"
    support = since("2014.1")
    collection = NETWORKS
    clear_values = {"port_security_enabled": True, "dns_domain": ""}
    readiness = Readiness(pending=frozenset({"BUILD"}))
    follow_up_requests = (tags_of(NETWORKS),)
    field_names = {
        "network_type": "provider:network_type",
        "physical_network": "provider:physical_network",
        "segmentation_id": "provider:segmentation_id",
        "router_external": "router:external",
    }

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "availability_zone_hints": declare.sequence(
            "Availability zones for the network's agents.",
            update_allowed=True,
            support=since("19.0.0"),
        ),
        "dns_domain": replace(DNS_DOMAIN, support=since("15.0.0")),
        "name": declare.NAME,
        "network_type": declare.choice(
            ["local", "vlan", "vxlan", "gre", "geneve", "flat"],
            "Type of the physical network.",
            required=True,
            update_allowed=True,
        ),
        "physical_network": declare.string("Name of the physical network.", update_allowed=True),
        "port_security_enabled": replace(PORT_SECURITY_ENABLED, support=since("8.0.0")),
        "router_external": declare.boolean(
            "Whether the network is external.",
            default=False,
            update_allowed=True,
            support=since("6.0.0"),
        ),
        "segmentation_id": declare.string(
            "Id of the segment, such as a VLAN id.", update_allowed=True
        ),
        "shared": declare.boolean(
            "Whether other projects can use the object.", default=True, update_allowed=True
        ),
        "tags": declare.tags("12.0.0"),
        "tenant_id": replace(declare.TENANT_ID, support=since("24.0.0")),
    }
    attributes = {
        "segments": Attribute("Segments of the network.", type=Type.LIST, support=since("16.0.0")),
        "status": Attribute("Status of the object.", type=Type.STRING),
        "subnets": Attribute("Subnets of the object.", type=Type.LIST),
        "show": declare.SHOW,
    }
