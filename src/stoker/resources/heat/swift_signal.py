"""OS::Heat::SwiftSignal: waits for signals in the object store."""

from __future__ import annotations

from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.heat.stored_signals import AwaitsStoredSignals
from stoker.resources.shared.signals.wait_signals import DATA, HANDLE, TIMEOUT
from stoker.schema.constraints import Range
from stoker.schema.resource_type import Call, Failed, Outcome
from stoker.schema.support import since


class SwiftSignal(AwaitsStoredSignals):
    """A wait condition that polls the object store."""

    type_name = "OS::Heat::SwiftSignal"
    description = "Waits for signals at a URL of the object store."
    support = since("2014.2")
    service = "object-store"
    handle, timeout, count, data = "handle", "timeout", "count", "data"
    properties = {
        "handle": HANDLE,
        "timeout": TIMEOUT,
        "count": declare.integer(
            "Number of signals with different ids to wait for.",
            default=1,
            constraints=(Range(1, 1000),),
        ),
    }
    attributes = {"data": DATA}

    def create(self, call: Call) -> Outcome:
        """Wait for the signals."""
        outcome = super().create(call)
        if isinstance(outcome, Failed) and outcome.kind is not None:
            return replace(outcome, kind=outcome.kind.replace("WaitCondition", "SwiftSignal"))
        return outcome
