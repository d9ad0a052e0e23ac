"""OS::Neutron::NetworkGateway: devices that connect virtual networks to physical ones.

Network gateways have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource, rename_fields
from stoker.schema.constraints import Length, Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import deprecated, hidden, since

_GATEWAYS = collection("network", "network_gateway")


def _act(call: Call, action: str, body: Object) -> None:
    _GATEWAYS.ask(call.cloud, "PUT", _GATEWAYS.at(call.object_id, f"/{action}"), json=body)


def _present(call: Call) -> list[Object]:
    ports = _GATEWAYS.get(call.cloud, call.object_id).get("ports") or []
    names = ("network_id", "segmentation_id", "segmentation_type")
    return [{name: each[name] for name in names if name in each} for each in ports]


def _desired(call: Call) -> list[Object]:
    connections = call.properties.get("connections") or []
    return [rename_fields(each, {"network": "network_id"}) for each in connections]


def _connect(call: Call) -> None:
    desired, present = _desired(call), _present(call)
    for each in present:
        if each not in desired:
            _act(call, "disconnect_network", each)
    for each in desired:
        if each not in present:
            _act(call, "connect_network", each)


def _connected(call: Call) -> list[Object]:
    return [rename_fields(each, {"network_id": "network"}) for each in _present(call)]


class NetworkGateway(RestResource):
    """A network gateway."""

    type_name = "OS::Neutron::NetworkGateway"
    description = "Devices that connect virtual networks to physical ones."
    service = "network"
    support = since("2014.1")
    extension = "network-gateway"
    collection = _GATEWAYS
    marker_field = ""
    follow_up_requests = (FollowUpRequest("connections", _connect, _connected),)

    properties = {
        "connections": declare.records(
            "Connected networks.",
            default={},
            update_allowed=True,
            entries={
                "network": declare.by_name(
                    "neutron.network", "Network", required=True, support=since("2014.2")
                ),
                "network_id": declare.old_name(
                    "network", "neutron.network", hidden("5.0.0", deprecated("2014.2"))
                ),
                "segmentation_id": declare.integer(
                    "VLAN of the network.", constraints=(Range(min=0, max=4094),)
                ),
                "segmentation_type": declare.choice(
                    ["flat", "vlan"], "Type of the segment.", default="flat"
                ),
            },
        ),
        "devices": declare.sequence(
            "The devices.",
            required=True,
            update_allowed=True,
            constraints=(Length(min=1),),
            items=declare.mapping(
                entries={
                    "id": declare.string("Id of the device.", required=True),
                    "interface_name": declare.string(
                        "Name of the interface of the device.", required=True
                    ),
                }
            ),
        ),
        "name": declare.NAME,
    }
    attributes = {
        "default": Attribute("Whether it is the default gateway.", Type.STRING),
        "show": declare.SHOW,
    }

    def delete(self, call: Call) -> Outcome:
        """Disconnect the networks, then delete the gateway."""
        if call.physical_id is not None:
            with gone_is_fine():
                for each in _present(call):
                    _act(call, "disconnect_network", each)
        return super().delete(call)
