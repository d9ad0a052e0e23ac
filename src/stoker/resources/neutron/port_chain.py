"""OS::Neutron::PortChain: an ordered list of service functions for traffic."""

from __future__ import annotations

from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.resource_type import Call
from stoker.schema.support import Support, SupportStatus


class PortChain(RestResource):
    """A port chain."""

    type_name = "OS::Neutron::PortChain"
    description = "An ordered list of service functions for traffic."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED, "8.0.0")
    extension = "sfc"
    collection = collection("network", "port_chain", path="/sfc/port_chains")
    clear_values = {"description": ""}

    properties = {
        "chain_parameters": declare.mapping(
            "Parameters for the encapsulation of the traffic.", default={"correlation": "mpls"}
        ),
        "description": declare.DESCRIPTION,
        "flow_classifiers": declare.sequence(
            "Flow classifiers that select the traffic.",
            default=[],
            update_allowed=True,
            items=declare.by_name("neutron.flow_classifier", "Flow classifier"),
        ),
        "name": declare.NAME,
        "port_pair_groups": declare.sequence(
            "Port pair groups, in order.",
            required=True,
            update_allowed=True,
            items=declare.by_name("neutron.port_pair_group", "Port pair group"),
        ),
    }

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, with given parameters only, since the service adds others."""
        observed = super().properties_of(call, found)
        specified = call.properties["chain_parameters"] or {}
        observed["chain_parameters"] = {
            name: value for name, value in observed["chain_parameters"].items() if name in specified
        }
        return observed
