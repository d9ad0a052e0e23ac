"""OS::Neutron::FlowClassifier: selects traffic for a chain of service functions."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.constraints import Range
from stoker.schema.support import Support, SupportStatus


class FlowClassifier(RestResource):
    """A flow classifier."""

    type_name = "OS::Neutron::FlowClassifier"
    description = "Selects traffic for a chain of service functions."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED, "8.0.0")
    extension = "sfc"
    collection = KINDS["network", "flow_classifier"]
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "destination_ip_prefix": declare.checked(
            "net_cidr", "Destination addresses in CIDR notation."
        ),
        "destination_port_range_max": declare.integer(
            "Highest destination port.", constraints=(Range(min=1, max=65535),)
        ),
        "destination_port_range_min": declare.integer(
            "Lowest destination port.", constraints=(Range(min=1, max=65535),)
        ),
        "ethertype": declare.choice(["IPv4", "IPv6"], "IP version of the traffic.", default="IPv4"),
        "l7_parameters": declare.mapping(
            "Additional conditions at layer 7.", support=SupportStatus(Support.UNSUPPORTED)
        ),
        "logical_destination_port": declare.by_name(
            "neutron.port", "Destination port of the network"
        ),
        "logical_source_port": declare.by_name("neutron.port", "Source port of the network"),
        "name": declare.NAME,
        "protocol": declare.choice(["tcp", "udp", "icmp"], "Protocol of the traffic."),
        "source_ip_prefix": declare.checked("net_cidr", "Source addresses in CIDR notation."),
        "source_port_range_max": declare.integer(
            "Highest source port.", constraints=(Range(min=1, max=65535),)
        ),
        "source_port_range_min": declare.integer(
            "Lowest source port.", constraints=(Range(min=1, max=65535),)
        ),
    }
