"""OS::Nova::FloatingIP: an address of an external network.

Nova's network API allocated it from a pool, which is the external network.
"""

from __future__ import annotations

from stoker.clouds.objects.collections import FLOATING_IPS
from stoker.resources.base import declare
from stoker.resources.base.renamed_types import superseded
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type


class NovaFloatingIP(RestResource):
    """A floating IP."""

    type_name = "OS::Nova::FloatingIP"
    description = "An address of an external network."
    service = "network"
    support = superseded("OS::Neutron::FloatingIP")
    collection = FLOATING_IPS
    field_names = {"pool": "floating_network_id"}
    attribute_fields = {"ip": "floating_ip_address", "pool": "floating_network_id"}

    properties = {"pool": declare.by_name("neutron.network", "External network", required=True)}
    attributes = {
        "ip": Attribute("The address.", type=Type.STRING),
        "pool": Attribute("Id of the external network.", type=Type.STRING),
        "show": declare.SHOW,
    }
