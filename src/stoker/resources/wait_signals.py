"""What wait conditions make of the signals of their handles. Pure.

A stored signal is ``{"id", "status", "reason", "data"}``; later signals of an id take the place of
earlier ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.schema.resource_type import Call, Done, Failed, Outcome, Signal, Wait

SUCCESS = "SUCCESS"
FAILURE = "FAILURE"


def received(signals: Sequence[Signal]) -> dict[str, Mapping[str, Any]]:
    """The signals by their id, the latest of each, in the order of their first arrival."""
    found: dict[str, Mapping[str, Any]] = {}
    for signal in signals:
        found[str(signal.details["id"])] = signal.details
    return found


def data_text(signals: Sequence[Signal]) -> str:
    """The data of all signals by id, as JSON text."""
    return json.dumps({key: signal.get("data") for key, signal in received(signals).items()})


def metadata_of(signals: Sequence[Signal]) -> dict[str, Any]:
    """The signals as the metadata of the handle shows them."""
    return {
        key: {name: signal.get(name) for name in ("status", "reason", "data")}
        for key, signal in received(signals).items()
    }


@dataclass(frozen=True, slots=True)
class Condition:
    """What is waited for. ``timeout`` is in seconds, from the start of the action."""

    handle: str
    count: int
    timeout: float
    attribute: str
    """The attribute that holds the data."""


def await_signals(call: Call, condition: Condition) -> Outcome:
    """Done when enough signals have come, Failed when one reports a failure or none comes."""
    if not condition.handle:
        return Failed(
            "the empty text is not a valid wait condition handle. No signal can ever come",
            kind="ValueError",
        )
    signals = call.signals.get(condition.handle, ())
    records = received(signals)
    reasons = [
        str(record.get("reason") or "no reason given")
        for record in records.values()
        if record.get("status") == FAILURE
    ]
    attributes = {condition.attribute: data_text(signals)}
    if reasons:
        return Failed("; ".join(reasons), call.physical_name, kind="WaitConditionFailure")
    if len(records) >= condition.count:
        return Done(physical_id=call.physical_name, attributes=attributes)
    waiting = f"{len(records)} of {condition.count} received"
    left = call.started_at + condition.timeout - call.now
    if left <= 0:
        late = f"{waiting} within {condition.timeout} seconds"
        return Failed(late, call.physical_name, kind="WaitConditionTimeout")
    return Wait(
        after=left,
        physical_id=call.physical_name,
        on_signal=True,
        reason=waiting,
        attributes=attributes,
    )
