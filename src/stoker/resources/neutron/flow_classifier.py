"""OS::Neutron::FlowClassifier: which traffic goes through a chain."""

from __future__ import annotations

from stoker.clouds.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.constraints import Range
from stoker.schema.support import Support, SupportStatus


class FlowClassifier(RestResource):
    """A flow classifier."""

    type_name = "OS::Neutron::FlowClassifier"
    description = "Says which traffic goes through a chain."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED, "8.0.0")
    extension = "sfc"
    collection = KINDS["network", "flow_classifier"]
    clear_values = {"description": ""}

    properties = {
        "description": declare.DESCRIPTION,
        "destination_ip_prefix": declare.checked(
            "net_cidr", "Where the traffic goes, in CIDR notation."
        ),
        "destination_port_range_max": declare.integer(
            "Highest port that it goes to.", constraints=(Range(min=1, max=65535),)
        ),
        "destination_port_range_min": declare.integer(
            "Lowest port that it goes to.", constraints=(Range(min=1, max=65535),)
        ),
        "ethertype": declare.choice(["IPv4", "IPv6"], "IP version of the traffic.", default="IPv4"),
        "l7_parameters": declare.mapping(
            "Further conditions.", support=SupportStatus(Support.UNSUPPORTED)
        ),
        "logical_destination_port": declare.by_name(
            "neutron.port", "Port that the traffic goes to"
        ),
        "logical_source_port": declare.by_name("neutron.port", "Port that the traffic comes from"),
        "name": declare.NAME,
        "protocol": declare.choice(["tcp", "udp", "icmp"], "Protocol of the traffic."),
        "source_ip_prefix": declare.checked(
            "net_cidr", "Where the traffic comes from, in CIDR notation."
        ),
        "source_port_range_max": declare.integer(
            "Highest port that it comes from.", constraints=(Range(min=1, max=65535),)
        ),
        "source_port_range_min": declare.integer(
            "Lowest port that it comes from.", constraints=(Range(min=1, max=65535),)
        ),
    }
