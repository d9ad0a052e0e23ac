"""Base of wait conditions, and the evaluation of signals.

A stored signal is ``{"id", "status", "reason", "data"}``. A later signal replaces an earlier one
with the same id. The condition completes when enough distinct ids have arrived, and fails at the
first signal that reports a failure, or after its timeout. The engine calls again for each signal.

Tested by tests/resource_types_heat/test_waiting.py.
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
    """Return the latest signal of each id, in the order in which the ids first arrived."""
    found: dict[str, Mapping[str, Any]] = {}
    for signal in signals:
        found[str(signal.details["id"])] = signal.details
    return found


def _data_text(signals: Sequence[Signal]) -> str:
    """Return the data of all signals by id, as JSON text."""
    return json.dumps({key: signal.get("data") for key, signal in received(signals).items()})


def metadata_of(signals: Sequence[Signal]) -> dict[str, Any]:
    """Return the signals as metadata of the handle."""
    return {
        key: {name: signal.get(name) for name in ("status", "reason", "data")}
        for key, signal in received(signals).items()
    }


HANDLE = declare.string("Reference to the wait condition handle.", required=True)
TIMEOUT = declare.number("Timeout in seconds.", required=True, constraints=(Range(1, 43200),))
COUNT = declare.at_least(
    1, "Number of signals with different ids to wait for.", default=1, update_allowed=True
)
DATA = Attribute("JSON object: the data of each signal, by its id.", Type.STRING, cached=False)


class AwaitsSignals(ManagedType):
    """A type that completes when enough signals arrived at a handle."""

    handle: ClassVar[str]  # This and the next two are names of properties.
    timeout: ClassVar[str]
    count: ClassVar[str]
    data: ClassVar[str]  # Name of an attribute.

    def create(self, call: Call) -> Outcome:
        """Wait for the signals."""
        handle, count, timeout = (
            call.properties[name] for name in (self.handle, self.count, self.timeout)
        )
        return _await_signals(call, handle, count, timeout, self.data)

    def update(self, call: Call) -> Outcome:
        """Wait for the new number of signals."""
        return self.create(call)

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete."""
        return Done()

    def counted_signals(self, call: Call) -> tuple[int, int]:
        """Return the number of signals received, and the number expected."""
        signals = call.signals.get(call.properties[self.handle] or "", ())
        return len(received(signals)), call.properties[self.count]

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the data of all signals, late ones included."""
        return {self.data: _data_text(call.signals.get(call.properties[self.handle] or "", ()))}


def _await_signals(call: Call, handle: str, count: int, timeout: float, attribute: str) -> Outcome:
    """Return Done after enough signals, Failed for a reported failure or a timeout."""
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
    # The data are read live. Recording all of them with each signal would be quadratic.
    return Wait(after=left, physical_id=call.physical_name, on_signal=True, reason=waiting)
