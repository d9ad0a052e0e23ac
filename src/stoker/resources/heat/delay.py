"""OS::Heat::Delay: waits during stack actions."""

from __future__ import annotations

import secrets

from stoker.resources.base import declare
from stoker.schema.constraints import AllowedValues, Range
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, Wait
from stoker.schema.support import since

_NOT_NEGATIVE = (Range(min=0),)


class Delay(ManagedType):
    """A fixed and a random delay during the given actions."""

    type_name = "OS::Heat::Delay"
    description = "Delays the resources that depend on it by a fixed and a random time."
    support = since("11.0.0")
    properties = {
        "min_wait": declare.number(
            "Minimum number of seconds to wait.",
            default=0,
            update_allowed=True,
            constraints=_NOT_NEGATIVE,
        ),
        "max_jitter": declare.number(
            "Maximum random delay in seconds, added to min_wait.",
            default=0,
            update_allowed=True,
            constraints=_NOT_NEGATIVE,
        ),
        "jitter_multiplier": declare.number(
            "Factor applied to the random delay.",
            default=1.0,
            update_allowed=True,
            constraints=_NOT_NEGATIVE,
        ),
        "actions": declare.sequence(
            "Actions during which to wait.",
            default=["CREATE"],
            update_allowed=True,
            constraints=(AllowedValues(["CREATE", "DELETE", "SUSPEND", "RESUME"]),),
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Wait if ``actions`` names this one."""
        return _wait(call)

    def update(self, call: Call) -> Outcome:
        """Return immediately: new values take effect with the next action."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Wait if ``actions`` names this one."""
        return Done() if call.physical_id is None else _wait(call)

    def suspend(self, call: Call) -> Outcome:
        """Wait if ``actions`` names this one."""
        return _wait(call)

    def resume(self, call: Call) -> Outcome:
        """Wait if ``actions`` names this one."""
        return _wait(call)


def _wait(call: Call) -> Outcome:
    """Wait. The random part is drawn once per action and stored as progress."""
    if call.action not in call.properties["actions"]:
        return Done(physical_id=call.physical_name)
    seconds = call.progress.get("seconds")
    if seconds is None:
        jitter = secrets.SystemRandom().uniform(0, call.properties["max_jitter"])
        seconds = call.properties["min_wait"] + jitter * call.properties["jitter_multiplier"]
    left = call.started_at + seconds - call.now
    if left <= 0:
        return Done(physical_id=call.physical_name)
    return Wait(after=left, physical_id=call.physical_name, progress={"seconds": seconds})
