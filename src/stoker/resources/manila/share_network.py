"""OS::Manila::ShareNetwork: the network of share servers."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import Support, SupportStatus, since

_NETWORKS = KINDS["shared-file-system", "share_network"]


def _services_of(call: Call) -> list[str]:
    query = {"share_network_id": call.object_id}
    answer = _NETWORKS.ask(call.cloud, "GET", "/security-services", params=query)
    return [str(each["id"]) for each in answer.get("security_services", [])]


def _secure(call: Call) -> None:
    desired, present = call.properties.get("security_services") or [], _services_of(call)
    path = _NETWORKS.at(call.object_id, "/action")
    for action, services in (
        ("remove_security_service", [each for each in present if each not in desired]),
        ("add_security_service", [each for each in desired if each not in present]),
    ):
        for each in services:
            body = {action: {"security_service_id": each}}
            _NETWORKS.ask(call.cloud, "POST", path, json=body)


class ShareNetwork(RestResource):
    """A share network."""

    type_name = "OS::Manila::ShareNetwork"
    description = "The network of share servers."
    service = "shared-file-system"
    support = since("5.0.0")
    collection = _NETWORKS
    clear_values = {"description": ""}
    field_names = {"neutron_network": "neutron_net_id", "neutron_subnet": "neutron_subnet_id"}
    follow_up_requests = (FollowUpRequest("security_services", _secure, _services_of),)

    properties = {
        "description": declare.DESCRIPTION,
        "name": declare.NAME,
        "neutron_network": declare.by_name("neutron.network", "Network", update_allowed=True),
        "neutron_subnet": declare.by_name("neutron.subnet", "Subnet", update_allowed=True),
        "nova_network": declare.string(
            "Network of nova-network, of earlier releases.",
            update_allowed=True,
            support=SupportStatus(Support.HIDDEN, "21.0.0"),
        ),
        "security_services": declare.sequence(
            "Security services, by id.",
            default=[],
            update_allowed=True,
            items=declare.string("Id of a security service."),
        ),
    }
    attributes = {
        "cidr": Attribute("Addresses of the network, in CIDR notation.", Type.STRING),
        "ip_version": Attribute("IP version of the addresses.", Type.STRING),
        "network_type": Attribute("Type of the network.", Type.STRING),
        "segmentation_id": Attribute("Id of the segment, such as a VLAN id.", Type.STRING),
        "show": declare.SHOW,
    }
