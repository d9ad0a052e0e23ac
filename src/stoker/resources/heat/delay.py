"""A resource that takes its time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from stoker.schema.constraints import AllowedValues, Range
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, Wait
from stoker.schema.support import since

_NOT_NEGATIVE = (Range(min=0),)


class Delay(ManagedType):
    """Waits a fixed and a random time in the actions that are named."""

    type_name = "OS::Heat::Delay"
    description = "Waits before what depends on it goes on, for a fixed and a random time."
    support = since("11.0.0")
    properties = {
        "min_wait": Property(
            Type.NUMBER,
            "Seconds to wait in any case.",
            default=0,
            update_allowed=True,
            constraints=_NOT_NEGATIVE,
        ),
        "max_jitter": Property(
            Type.NUMBER,
            "Seconds to wait besides, at most: a random part of it.",
            default=0,
            update_allowed=True,
            constraints=_NOT_NEGATIVE,
        ),
        "jitter_multiplier": Property(
            Type.NUMBER,
            "Factor of the random part.",
            default=1.0,
            update_allowed=True,
            constraints=_NOT_NEGATIVE,
        ),
        "actions": Property(
            Type.LIST,
            "The actions in which to wait.",
            default=["CREATE"],
            update_allowed=True,
            constraints=(AllowedValues(["CREATE", "DELETE", "SUSPEND", "RESUME"]),),
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Waits if it is to."""
        return _wait(call)

    def update(self, call: Call) -> Outcome:
        """New values count from the next action on."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Waits if it is to."""
        return Done() if call.physical_id is None else _wait(call)


def _wait(call: Call) -> Outcome:
    """The random part is drawn once per action and kept as progress."""
    if call.action not in call.properties["actions"]:
        return Done(physical_id=call.physical_name)
    seconds = call.progress.get("seconds")
    if seconds is None:
        seconds = _draw(call.properties)
    left = call.started_at + seconds - call.now
    if left <= 0:
        return Done(physical_id=call.physical_name)
    return Wait(after=left, physical_id=call.physical_name, progress={"seconds": seconds})


def _draw(properties: Mapping[str, Any]) -> float:
    jitter = secrets.SystemRandom().uniform(0, properties["max_jitter"])
    waited: float = properties["min_wait"] + jitter * properties["jitter_multiplier"]
    return waited
