"""What a signal, from an alarm for instance, does to the size of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.declarations import at_least, choice
from stoker.resources.heat.capacity import CHANGE, EXACT, PERCENT
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import (
    Adjustment,
    Call,
    Done,
    Failed,
    ManagedType,
    Outcome,
    Signalling,
)
from stoker.schema.support import since
from stoker.schema.unknown import Unknown


class AutoScalingPolicy(ManagedType):
    """Makes signed and plain addresses for signals. Calls the identity service."""

    type_name = "OS::Heat::ScalingPolicy"
    description = "What a signal does to the size of a scaling group."
    service = "identity"
    properties = {
        "auto_scaling_group_id": Property(
            Type.STRING, "The group, by reference: {get_resource: GROUP}.", required=True
        ),
        "scaling_adjustment": Property(
            Type.NUMBER, "The size, or by how much it changes.", required=True, update_allowed=True
        ),
        "adjustment_type": choice(
            [CHANGE, EXACT, PERCENT],
            "Whether the adjustment adds members, names their number, or adds a percentage.",
            required=True,
            update_allowed=True,
        ),
        "cooldown": Property(
            Type.NUMBER,
            "Seconds after a change of size in which this policy changes nothing.",
            update_allowed=True,
        ),
        "min_adjustment_step": at_least(
            0, "Members that a change in percent adds or removes at least.", update_allowed=True
        ),
    }
    attributes = {
        "alarm_url": Attribute("A signed address: whoever posts to it, signals.", Type.STRING),
        "signal_url": Attribute(
            "The address of the orchestration API, for those who have a token.",
            Type.STRING,
            support=since("5.0.0"),
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """A smallest change goes with percentages only."""
        kind, least = properties.get("adjustment_type"), properties.get("min_adjustment_step")
        if least is None or kind in (None, PERCENT) or isinstance(kind, Unknown):
            return []
        message = f'min_adjustment_step goes with adjustment_type "{PERCENT}" only'
        return [Diagnostic("bad-adjustment", message, ("min_adjustment_step",))]

    def create(self, call: Call) -> Outcome:
        """Makes a stack user and the address that its key signs."""
        if call.signalling is None:
            return Failed("this service has no endpoint that could be signalled")
        user = call.data if "user_id" in call.data else call.signalling.create_user(call)
        keys = call.signalling.create_keypair(call, user["user_id"])
        data = {**user, **keys}
        return Done(user["user_id"], _addresses(replace(call, data=data), call.signalling), data)

    def update(self, call: Call) -> Outcome:
        """Nothing is to be done: the next signal counts by what is recorded."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Removes the stack user."""
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The addresses, as they were when the policy was made."""
        return {} if call.signalling is None else _addresses(call, call.signalling)

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Every signal counts, whatever it says."""
        return {}

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """The end of the operation that applies the signal tells more."""
        return "Signal received"

    def adjustment(self, call: Call) -> Adjustment:
        """What the properties say."""
        wanted = call.properties
        return Adjustment(
            policy=call.name,
            group=wanted["auto_scaling_group_id"],
            kind=wanted["adjustment_type"],
            amount=wanted["scaling_adjustment"],
            least=wanted["min_adjustment_step"] or 0,
            cooldown=wanted["cooldown"] or 0,
        )


def _addresses(call: Call, signalling: Signalling) -> dict[str, Any]:
    return {
        "alarm_url": signalling.presigned_url(call, "signal", never_expire=True),
        "signal_url": signalling.signal_url(call),
    }
