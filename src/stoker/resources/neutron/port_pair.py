"""OS::Neutron::PortPair: ingress and egress ports of a service function."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import Support, SupportStatus


class PortPair(RestResource):
    """A port pair."""

    type_name = "OS::Neutron::PortPair"
    description = "Ingress and egress ports of a service function."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED, "7.0.0")
    extension = "sfc"
    collection = KINDS["network", "port_pair"]
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "egress": declare.by_name("neutron.port", "Egress port", required=True),
        "ingress": declare.by_name("neutron.port", "Ingress port", required=True),
        "name": declare.NAME,
        "service_function_parameters": declare.mapping(
            "Parameters of the service function.", default={"correlation": None}
        ),
    }
