"""Scaling policies: the effect of a signal, as from an alarm, on the size of a group."""

from __future__ import annotations

from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.capacity import CHANGE, EXACT, PERCENT
from stoker.resources.shared.scaling_policies import ScalesGroup
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, SignalCredentials
from stoker.schema.support import since


class AutoScalingPolicy(ScalesGroup):
    """Creates signed and plain addresses for signals."""

    type_name = "OS::Heat::ScalingPolicy"
    description = "Changes the size of a scaling group when signalled."
    kinds = {word: word for word in (CHANGE, EXACT, PERCENT)}
    group, amount, kind = "auto_scaling_group_id", "scaling_adjustment", "adjustment_type"
    cooldown, least, alarm_url = "cooldown", "min_adjustment_step", "alarm_url"
    properties = {
        "auto_scaling_group_id": declare.string(
            "The group, by reference: {get_resource: GROUP}.", required=True
        ),
        "scaling_adjustment": declare.number(
            "New size, or amount of the change.", required=True, update_allowed=True
        ),
        "adjustment_type": declare.choice(
            list(kinds),
            "Whether the adjustment is a change, an exact size, or a percentage.",
            required=True,
            update_allowed=True,
        ),
        "cooldown": declare.number(
            "Seconds after a change of size during which this policy is ignored.",
            update_allowed=True,
        ),
        "min_adjustment_step": declare.at_least(
            0,
            "Minimum number of members to add or remove, for a change in percent.",
            update_allowed=True,
        ),
    }
    attributes = {
        "alarm_url": Attribute("A signed address; a POST to it is a signal.", Type.STRING),
        "signal_url": Attribute(
            "The address in the orchestration API; needs a token of the stack's project.",
            Type.STRING,
            support=since("5.0.0"),
        ),
    }

    def addresses(self, call: Call, signalling: SignalCredentials) -> dict[str, Any]:
        """The addresses with a signature, and for a token: that of the user whose alarm rings."""
        plain = {"signal_url": signalling.signal_url(call, call.stack.project_id)}
        return {**super().addresses(call, signalling), **plain}
