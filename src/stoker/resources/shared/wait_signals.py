"""Wait conditions, and how they evaluate the signals of their handles.

A stored signal is ``{"id", "status", "reason", "data"}``; a later signal replaces an earlier one
with the same id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stoker.resources.base import declare
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Signal, Wait

SUCCESS = "SUCCESS"
FAILURE = "FAILURE"


def received(signals: Sequence[Signal]) -> dict[str, Mapping[str, Any]]:
    """The signals by their id, the latest of each, in the order of their first arrival."""
    found: dict[str, Mapping[str, Any]] = {}
    for signal in signals:
        found[str(signal.details["id"])] = signal.details
    return found


def _data_text(signals: Sequence[Signal]) -> str:
    """The data of all signals by id, as JSON text."""
    return json.dumps({key: signal.get("data") for key, signal in received(signals).items()})


def metadata_of(signals: Sequence[Signal]) -> dict[str, Any]:
    """The signals as the metadata of the handle shows them."""
    return {
        key: {name: signal.get(name) for name in ("status", "reason", "data")}
        for key, signal in received(signals).items()
    }


HANDLE = declare.string("A reference to the handle that is signalled.", required=True)
TIMEOUT = declare.number(
    "Seconds to wait for the signals.", required=True, constraints=(Range(1, 43200),)
)
COUNT = declare.at_least(
    1, "How many signals, with different ids, are waited for.", default=1, update_allowed=True
)
DATA = Attribute("JSON text: the data of each signal by its id.", Type.STRING, cached=False)


class AwaitsSignals(ManagedType):
    """A type that is complete when enough signals have come to a handle."""

    handle: ClassVar[str]
    """Name of the property, as those of the next two."""
    timeout: ClassVar[str]
    count: ClassVar[str]
    data: ClassVar[str]
    """Name of the attribute."""

    def create(self, call: Call) -> Outcome:
        """Wait for the signals."""
        handle, count, timeout = (
            call.properties[name] for name in (self.handle, self.count, self.timeout)
        )
        return _await_signals(call, handle, count, timeout, self.data)

    def update(self, call: Call) -> Outcome:
        """Wait for the signals that are wanted now."""
        return self.create(call)

    def delete(self, call: Call) -> Outcome:
        """Nothing is left to remove."""
        return Done()

    def counted_signals(self, call: Call) -> tuple[int, int]:
        """How many signals have come to the handle, and how many are waited for."""
        signals = call.signals.get(call.properties[self.handle] or "", ())
        return len(received(signals)), call.properties[self.count]

    def read(self, call: Call) -> Mapping[str, Any]:
        """The data of all signals, late ones included."""
        return {self.data: _data_text(call.signals.get(call.properties[self.handle] or "", ()))}


def _await_signals(call: Call, handle: str, count: int, timeout: float, attribute: str) -> Outcome:
    """Done when enough signals have come, Failed when one reports a failure or none comes."""
    if not handle:
        return Failed(
            "the empty text is not a valid wait condition handle. No signal can ever come",
            kind="ValueError",
        )
    signals = call.signals.get(handle, ())
    records = received(signals)
    reasons = [
        str(record.get("reason") or "no reason given")
        for record in records.values()
        if record.get("status") == FAILURE
    ]
    if reasons:
        return Failed("; ".join(reasons), call.physical_name, kind="WaitConditionFailure")
    if len(records) >= count:
        attributes = {attribute: _data_text(signals)}
        return Done(physical_id=call.physical_name, attributes=attributes)
    waiting = f"{len(records)} of {count} received"
    left = call.started_at + timeout - call.now
    if left <= 0:
        late = f"{waiting} within {timeout} seconds"
        return Failed(late, call.physical_name, kind="WaitConditionTimeout")
    # The data is read live: to record all of it with each signal would write the square of it.
    return Wait(after=left, physical_id=call.physical_name, on_signal=True, reason=waiting)
