"""OS::Neutron::Trunk: a port that carries the traffic of sub-ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource, rename_fields
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import since

_TRUNKS = collection("network", "trunk")
_WIRE = {"port": "port_id"}


class Trunk(RestResource):
    """A trunk."""

    type_name = "OS::Neutron::Trunk"
    description = "A port that carries the traffic of sub-ports, distinguished by VLAN tags."
    service = "network"
    support = since("9.0.0")
    extension = "trunk"
    collection = _TRUNKS
    readiness = Readiness(pending=frozenset({"BUILD"}))
    clear_values = {"admin_state_up": True, "description": ""}
    field_names = {"port": "port_id"}

    properties = {
        "admin_state_up": declare.boolean(
            "Administrative state of the object.", update_allowed=True
        ),
        "description": declare.DESCRIPTION,
        "name": declare.NAME,
        "port": declare.by_name("neutron.port", "Port", required=True, immutable=True),
        "sub_ports": declare.records(
            "Sub-ports of the trunk.",
            update_allowed=True,
            entries={
                "port": declare.by_name("neutron.port", "Port", required=True),
                "segmentation_id": declare.integer(
                    "Id of the segment, such as a VLAN id.",
                    required=True,
                    constraints=(Range(min=1, max=4094),),
                ),
                "segmentation_type": declare.choice(
                    ["vlan"], "Type of the segmentation.", required=True
                ),
            },
        ),
    }
    attributes = {"port_id": Attribute("Id of the port.", Type.STRING), "show": declare.SHOW}

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields, with the sub-ports in Neutron's format."""
        body = super().fields(properties)
        if body.get("sub_ports") is not None:
            body["sub_ports"] = [rename_fields(each, _WIRE) for each in body["sub_ports"]]
        return body

    def changed_fields(self, call: Call) -> Object:
        """Return the fields to update, without the sub-ports, which need other requests."""
        body = super().changed_fields(call)
        body.pop("sub_ports", None)
        return body

    def update(self, call: Call) -> Outcome:
        """Update the fields, then remove and add sub-ports."""
        if "sub_ports" in call.update.changed:
            desired = self.fields(call.properties).get("sub_ports") or []
            trunk = _TRUNKS.get(call.cloud, call.object_id)
            _enable(call, trunk)
            present = trunk.get("sub_ports") or []
            old = [{"port_id": each["port_id"]} for each in present if each not in desired]
            new = [each for each in desired if each not in present]
            for action, ports in (("remove_subports", old), ("add_subports", new)):
                if ports:
                    path = _TRUNKS.at(call.object_id, f"/{action}")
                    _TRUNKS.ask(call.cloud, "PUT", path, json={"sub_ports": ports})
            if call.properties.get("admin_state_up") is False:
                _TRUNKS.update(call.cloud, call.object_id, {"admin_state_up": False})
        return super().update(call)

    def delete(self, call: Call) -> Outcome:
        """Enable the trunk, then delete it: Neutron deletes no disabled trunk."""
        if call.physical_id is not None:
            _enable(call, _TRUNKS.find(call.cloud, call.physical_id) or {})
        return super().delete(call)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, with the sub-ports in the format of templates."""
        observed = super().properties_of(call, found)
        back = {field: name for name, field in _WIRE.items()}
        ports = [rename_fields(each, back) for each in found.get("sub_ports") or ()]
        ports_in_order = [each["port"] for each in call.properties.get("sub_ports") or ()]
        order = {port: place for place, port in enumerate(ports_in_order)}
        return {
            **observed,
            "sub_ports": sorted(ports, key=lambda e: order.get(e["port"], len(order))),
        }


def _enable(call: Call, trunk: Object) -> None:
    """Enable a trunk, since Neutron changes sub-ports only while it is enabled."""
    if trunk.get("admin_state_up") is False:
        _TRUNKS.update(call.cloud, call.object_id, {"admin_state_up": True})
