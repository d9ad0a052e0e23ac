"""OS::Neutron::MeteringRule: selects traffic for a metering label.

Rules of a label cannot overlap, so a rule is identified by its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.shared.making_way import MakesWay
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class MeteringRule(MakesWay, RestResource):
    """A metering rule."""

    type_name = "OS::Neutron::MeteringRule"
    description = "Selects traffic for a metering label."
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
        "excluded": declare.boolean("Exclude the traffic instead of metering it.", default="False"),
        "metering_label_id": declare.string("Id of the label.", required=True),
        "remote_ip_prefix": declare.string(
            "Addresses of the remote side, in CIDR notation.", required=True
        ),
    }
    attributes = {
        "direction": Attribute("Direction of the traffic.", Type.STRING),
        "excluded": Attribute("Exclude the traffic instead of metering it.", Type.STRING),
        "metering_label_id": Attribute("Id of the label.", Type.STRING),
        "remote_ip_prefix": Attribute("Addresses of the remote side.", Type.STRING),
        "show": declare.SHOW,
    }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List the rules of the label."""
        return self.collection.select(call.cloud, metering_label_id=like["metering_label_id"])
