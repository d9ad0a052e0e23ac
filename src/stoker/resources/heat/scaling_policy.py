"""OS::Heat::ScalingPolicy: changes the size of a group when it is signalled."""

from __future__ import annotations

from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.groups.capacity import CHANGE, EXACT, PERCENT
from stoker.resources.shared.groups.scaling_policies import ScalesGroup
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, SignalCredentials
from stoker.schema.support import since


class AutoScalingPolicy(ScalesGroup):
    """A signed URL and an API address for signals."""

    type_name = "OS::Heat::ScalingPolicy"
    description = "Changes the size of a scaling group when signalled."
    kinds = {word: word for word in (CHANGE, EXACT, PERCENT)}
    group, amount, kind = "auto_scaling_group_id", "scaling_adjustment", "adjustment_type"
    cooldown, least, alarm_url = "cooldown", "min_adjustment_step", "alarm_url"
    properties = {
        "auto_scaling_group_id": declare.string(
            "Scaling group, as {get_resource: GROUP}.", required=True
        ),
        "scaling_adjustment": declare.number(
            "New size, or amount of the change.", required=True, update_allowed=True
        ),
        "adjustment_type": declare.choice(
            list(kinds),
            "Kind of adjustment: a change, an exact size, or a percentage.",
            required=True,
            update_allowed=True,
        ),
        "cooldown": declare.number(
            "Seconds after a change of size during which this policy is ignored.",
            update_allowed=True,
        ),
        "min_adjustment_step": declare.at_least(
            0,
            "Minimum number of members to add or remove for a change in percent.",
            update_allowed=True,
        ),
    }
    attributes = {
        "alarm_url": Attribute("Signed URL; a POST to it is a signal.", Type.STRING),
        "signal_url": Attribute(
            "Address in the orchestration API, for callers with a token of the stack's project.",
            Type.STRING,
            support=since("5.0.0"),
        ),
    }

    def addresses(self, call: Call, signalling: SignalCredentials) -> dict[str, Any]:
        """Return the signed URL, and the API address for alarms that call with a trust."""
        plain = {"signal_url": signalling.signal_url(call, call.stack.project_id)}
        return {**super().addresses(call, signalling), **plain}
