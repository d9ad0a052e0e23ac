"""AWS::AutoScaling::ScalingPolicy: changes the size of a group when it is signalled."""

from __future__ import annotations

from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.groups.capacity import CHANGE, EXACT, PERCENT
from stoker.resources.shared.groups.scaling_policies import ScalesGroup
from stoker.resources.shared.signals.alarm_urls import URL
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call


class AWSScalingPolicy(ScalesGroup):
    """A signed URL for signals, which is the reference of the policy."""

    type_name = "AWS::AutoScaling::ScalingPolicy"
    description = "Changes the size of a scaling group when signalled."
    kinds = {
        "ChangeInCapacity": CHANGE,
        "ExactCapacity": EXACT,
        "PercentChangeInCapacity": PERCENT,
    }
    group, amount, kind = "AutoScalingGroupName", "ScalingAdjustment", "AdjustmentType"
    cooldown, least, alarm_url = "Cooldown", "MinAdjustmentStep", "AlarmUrl"
    properties = {
        "AutoScalingGroupName": declare.string("Scaling group.", required=True),
        "ScalingAdjustment": declare.integer(
            "New size, or amount of the change.", required=True, update_allowed=True
        ),
        "AdjustmentType": declare.choice(
            list(kinds),
            "Kind of adjustment: a change, an exact size, or a percentage.",
            required=True,
            update_allowed=True,
        ),
        "Cooldown": declare.integer(
            "Seconds after a change of size during which this policy is ignored.",
            update_allowed=True,
        ),
        "MinAdjustmentStep": declare.at_least(
            0,
            "Minimum number of instances to add or remove for a change in percent.",
            update_allowed=True,
        ),
    }
    attributes = {"AlarmUrl": Attribute("Signed URL; a POST to it is a signal.", Type.STRING)}

    def reference(self, call: Call) -> Any:
        """Return the signed URL, so that alarms can use the policy as an action."""
        return call.data.get(URL, call.name)
