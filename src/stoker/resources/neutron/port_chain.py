"""OS::Neutron::PortChain: the functions that traffic goes through."""

from __future__ import annotations

from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.resource_type import Call
from stoker.schema.support import Support, SupportStatus


class PortChain(RestResource):
    """A port chain."""

    type_name = "OS::Neutron::PortChain"
    description = "The functions that traffic goes through, in their order."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED, "8.0.0")
    extension = "sfc"
    collection = collection("network", "port_chain", path="/sfc/port_chains")
    clear_values = {"description": ""}

    properties = {
        "chain_parameters": declare.mapping(
            "How the traffic is marked.", default={"correlation": "mpls"}
        ),
        "description": declare.DESCRIPTION,
        "flow_classifiers": declare.sequence(
            "What says which traffic it is.",
            default=[],
            update_allowed=True,
            items=declare.by_name("neutron.flow_classifier", "Flow classifier"),
        ),
        "name": declare.NAME,
        "port_pair_groups": declare.sequence(
            "Groups of port pairs, in their order.",
            required=True,
            update_allowed=True,
            items=declare.by_name("neutron.port_pair_group", "Group of port pairs"),
        ),
    }

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Of the parameters those that are given: the service adds the others to them."""
        told = super().properties_of(call, found)
        given = call.properties["chain_parameters"] or {}
        told["chain_parameters"] = {
            name: value for name, value in told["chain_parameters"].items() if name in given
        }
        return told
