"""A resource that is complete when enough signals have come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.wait_signals import Condition, await_signals, data_text
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import since


class HeatWaitCondition(ManagedType):
    """Waits for signals to a handle."""

    type_name = "OS::Heat::WaitCondition"
    description = "Waits until as many signals as are wanted have come to a handle."
    support = since("2014.2")
    properties = {
        "handle": Property(Type.STRING, "The handle that is signalled.", required=True),
        "timeout": Property(
            Type.NUMBER,
            "Seconds to wait for the signals.",
            required=True,
            constraints=(Range(1, 43200),),
        ),
        "count": Property(
            Type.INTEGER,
            "How many signals, with different ids, are waited for.",
            default=1,
            update_allowed=True,
            constraints=(Range(min=1),),
        ),
    }
    attributes = {
        "data": Attribute(
            "JSON text: the data of each signal by its id.", Type.STRING, cached=False
        )
    }

    def create(self, call: Call) -> Outcome:
        """Waits for the signals."""
        return await_signals(call, _condition(call))

    def update(self, call: Call) -> Outcome:
        """Waits for the signals that are wanted now."""
        return await_signals(call, _condition(call))

    def delete(self, call: Call) -> Outcome:
        """Nothing is left to remove."""
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The data of all signals, late ones included."""
        return {"data": data_text(call.signals.get(call.properties["handle"] or "", ()))}


def _condition(call: Call) -> Condition:
    given = call.properties
    return Condition(given["handle"], given["count"], given["timeout"], "data")
