"""OS::Neutron::MeteringRule: which traffic is counted under a label.

The service takes no two rules of a label that overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.making_way import MakesWay
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class MeteringRule(MakesWay, RestResource):
    """A metering rule."""

    type_name = "OS::Neutron::MeteringRule"
    description = "Says which traffic is counted under a label."
    service = "network"
    support = since("2014.1")
    extension = "metering"
    unique = True
    collection = collection(
        "network",
        "metering_label_rule",
        path="/metering/metering-label-rules",
        plural="metering_label_rules",
        words="metering rule",
    )
    marker_field = ""
    identity_fields = ("metering_label_id", "direction", "remote_ip_prefix")

    properties = {
        "direction": declare.choice(
            ["ingress", "egress"], "Direction of the traffic.", default="ingress"
        ),
        "excluded": declare.boolean("Whether the traffic is left out.", default="False"),
        "metering_label_id": declare.string("Id of the label.", required=True),
        "remote_ip_prefix": declare.string(
            "Addresses of the remote side, in CIDR notation.", required=True
        ),
    }
    attributes = {
        "direction": Attribute("Direction of the traffic.", Type.STRING),
        "excluded": Attribute("Whether the traffic is left out.", Type.STRING),
        "metering_label_id": Attribute("Id of the label.", Type.STRING),
        "remote_ip_prefix": Attribute("Addresses of the remote side.", Type.STRING),
        "show": declare.SHOW,
    }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """Return the rules of the label."""
        return self.collection.select(call.cloud, metering_label_id=like["metering_label_id"])
