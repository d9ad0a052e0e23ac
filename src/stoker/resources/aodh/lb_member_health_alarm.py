"""OS::Aodh::LBMemberHealthAlarm: an alarm on unhealthy load balancer members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.aodh.alarms import COMMON, Alarm
from stoker.resources.base import declare
from stoker.resources.base.rest import rename_fields
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class LBMemberHealthAlarm(Alarm):
    """An alarm on members of a load balancer."""

    type_name = "OS::Aodh::LBMemberHealthAlarm"
    description = "An alarm on unhealthy members of a load balancer."
    support = since("13.0.0")
    kind = "loadbalancer_member_health"
    properties = {
        **COMMON,
        "autoscaling_group_id": declare.string(
            "Id of the scaling group of the members.", required=True, update_allowed=True
        ),
        "pool": declare.string("Id of the pool.", required=True, update_allowed=True),
        "stack": declare.string("Id of the stack of the group.", required=True),
    }

    def rule_fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the pool, the group and its stack."""
        return rename_fields(super().rule_fields(properties), _WIRE)

    def live_rule(self, call: Call, rule: Object) -> dict[str, Any]:
        """Return the properties for pool, group and stack."""
        return rename_fields(rule, {field: name for name, field in _WIRE.items()})


_WIRE = {"pool": "pool_id", "stack": "stack_id"}
