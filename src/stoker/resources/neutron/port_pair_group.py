"""OS::Neutron::PortPairGroup: port pairs of equivalent service functions."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import Support, SupportStatus


class PortPairGroup(RestResource):
    """A group of port pairs."""

    type_name = "OS::Neutron::PortPairGroup"
    description = "Port pairs of equivalent service functions."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED, "8.0.0")
    extension = "sfc"
    collection = KINDS["network", "port_pair_group"]
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "name": declare.NAME,
        "port_pairs": declare.sequence(
            "Port pairs.",
            required=True,
            update_allowed=True,
            items=declare.by_name("neutron.port_pair", "Port pair"),
        ),
    }
