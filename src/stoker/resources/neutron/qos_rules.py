"""OS::Neutron::QoS*Rule: rules of a quality of service policy.

A policy has at most one rule of a kind for each direction, so a lost create is found by these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.constraints import AllowedValues
from stoker.schema.properties import Property
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_DSCP_MARKS = [0, *range(8, 40, 2), 40, 46, 48, 56]
# Properties of all rules.
_COMMON = {
    "policy": declare.by_name("neutron.qos_policy", "Quality of service policy", required=True),
    "tenant_id": declare.TENANT_ID,
}


def _direction(*others: str, **more: Any) -> Property:
    return declare.choice(
        [*others, "egress", "ingress"],
        "Direction of the traffic.",
        default="egress",
        update_allowed=True,
        **more,
    )


class Rule(RestResource):
    """A rule of a policy. It belongs to the project of the policy."""

    service = "network"
    unique = True
    parent_property = "policy"
    marker_field = ""
    identity_fields: ClassVar[tuple[str, ...]] = ("direction",)

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields without the project, which only administrators may name."""
        return {k: v for k, v in super().fields(properties).items() if k != "tenant_id"}

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List the rules of this kind in the policy."""
        return self.of(call).select(call.cloud)


class QoSBandwidthLimitRule(Rule):
    """A bandwidth limit rule. For administrators only."""

    type_name = "OS::Neutron::QoSBandwidthLimitRule"
    description = "Limits the bandwidth of ports that use the policy."
    support = since("6.0.0")
    extension = "qos"
    collection = collection(
        "network",
        "bandwidth_limit_rule",
        path="/qos/policies/{}/bandwidth_limit_rules",
        words="bandwidth limit rule",
    )

    properties = {
        "direction": _direction(support=since("13.0.0")),
        "max_burst_kbps": declare.at_least(
            0,
            "Maximum burst in kilobits; 0 lets the service choose.",
            default=0,
            update_allowed=True,
        ),
        "max_kbps": declare.at_least(0, "Kilobits per second.", required=True, update_allowed=True),
        **_COMMON,
    }


class QoSDscpMarkingRule(Rule):
    """A DSCP marking rule. For administrators only."""

    type_name = "OS::Neutron::QoSDscpMarkingRule"
    description = "Marks the packets of ports that use the policy."
    support = since("7.0.0")
    extension = "qos"
    collection = collection(
        "network",
        "dscp_marking_rule",
        path="/qos/policies/{}/dscp_marking_rules",
        words="DSCP marking rule",
    )
    identity_fields = ()

    properties = {
        "dscp_mark": declare.integer(
            "The mark.",
            required=True,
            update_allowed=True,
            constraints=(AllowedValues(_DSCP_MARKS),),
        ),
        **_COMMON,
    }


class QoSMinimumBandwidthRule(Rule):
    """A minimum bandwidth rule. For administrators only."""

    type_name = "OS::Neutron::QoSMinimumBandwidthRule"
    description = "Guarantees bandwidth to ports that use the policy."
    support = since("14.0.0")
    extension = "qos-bw-minimum-ingress"
    collection = collection(
        "network",
        "minimum_bandwidth_rule",
        path="/qos/policies/{}/minimum_bandwidth_rules",
        words="minimum bandwidth rule",
    )

    properties = {
        "direction": _direction(),
        "min_kbps": declare.at_least(0, "Kilobits per second.", required=True, update_allowed=True),
        **_COMMON,
    }


class QoSMinimumPacketRateRule(Rule):
    """A minimum packet rate rule. For administrators only."""

    type_name = "OS::Neutron::QoSMinimumPacketRateRule"
    description = "Guarantees a packet rate to ports that use the policy."
    support = since("19.0.0")
    extension = "qos-pps-minimum"
    collection = collection(
        "network",
        "minimum_packet_rate_rule",
        path="/qos/policies/{}/minimum_packet_rate_rules",
        words="minimum packet rate rule",
    )

    properties = {
        "direction": _direction("any"),
        "min_kpps": declare.at_least(
            0, "Rate in thousands of packets per second.", required=True, update_allowed=True
        ),
        **_COMMON,
    }
