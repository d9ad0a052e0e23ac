"""How a signal, for instance from an alarm, changes the size of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources import declare
from stoker.resources.capacity import CHANGE, EXACT, PERCENT
from stoker.schema.properties import Attribute, Type
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
    """Creates signed and plain addresses for signals. Calls the identity service."""

    type_name = "OS::Heat::ScalingPolicy"
    description = "Changes the size of a scaling group when signalled."
    service = "identity"
    properties = {
        "auto_scaling_group_id": declare.string(
            "The group, by reference: {get_resource: GROUP}.", required=True
        ),
        "scaling_adjustment": declare.number(
            "New size, or amount of the change.", required=True, update_allowed=True
        ),
        "adjustment_type": declare.choice(
            [CHANGE, EXACT, PERCENT],
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
    secrets = frozenset({"alarm_url", "password", "secret"})
    attributes = {
        "alarm_url": Attribute("A signed address; a POST to it is a signal.", Type.STRING),
        "signal_url": Attribute(
            "The address in the orchestration API; needs a token.",
            Type.STRING,
            support=since("5.0.0"),
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """``min_adjustment_step`` applies to percentages only."""
        kind, least = properties.get("adjustment_type"), properties.get("min_adjustment_step")
        if least is None or kind in (None, PERCENT) or isinstance(kind, Unknown):
            return []
        message = f'min_adjustment_step applies to adjustment_type "{PERCENT}" only'
        return [Diagnostic("bad-adjustment", message, ("min_adjustment_step",))]

    def create(self, call: Call) -> Outcome:
        """Create a stack user and the address that its key signs."""
        if call.signalling is None:
            return Failed("this service has no endpoint for signals")
        user = call.data if "user_id" in call.data else call.signalling.create_user(call)
        keys = call.signalling.create_keypair(call, user["user_id"])
        data = {**user, **keys}
        return Done(user["user_id"], _addresses(replace(call, data=data), call.signalling), data)

    def update(self, call: Call) -> Outcome:
        """Nothing to do: the next signal uses the new properties."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Remove the stack user."""
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The addresses."""
        return {} if call.signalling is None else _addresses(call, call.signalling)

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Any signal is accepted."""
        return {}

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """The end of the scaling operation has its own event."""
        return "Signal received"

    def adjustment(self, call: Call) -> Adjustment:
        """The adjustment that the properties describe."""
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
