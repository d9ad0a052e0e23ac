"""OS::Neutron::PortPair: the ports by which traffic enters and leaves a service function."""

from __future__ import annotations

from stoker.clouds.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import Support, SupportStatus


class PortPair(RestResource):
    """A port pair."""

    type_name = "OS::Neutron::PortPair"
    description = "The ports by which traffic enters and leaves a service function."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED, "7.0.0")
    extension = "sfc"
    collection = KINDS["network", "port_pair"]
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "egress": declare.by_name(
            "neutron.port", "Port by which the traffic leaves", required=True
        ),
        "ingress": declare.by_name(
            "neutron.port", "Port by which the traffic enters", required=True
        ),
        "name": declare.NAME,
        "service_function_parameters": declare.mapping(
            "What the function understands.", default={"correlation": None}
        ),
    }
