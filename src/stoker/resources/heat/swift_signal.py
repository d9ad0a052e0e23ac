"""A resource that is complete when enough signals have come to an address of the object store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from stoker.kernel.errors import Invalid
from stoker.kernel.values import replace
from stoker.resources import declare
from stoker.resources.temp_url import StoredObject
from stoker.resources.wait_signals import DATA, HANDLE, SUCCESS, TIMEOUT, AwaitsSignals
from stoker.schema.constraints import Range
from stoker.schema.resource_type import Call, Failed, Outcome, Signal, Wait
from stoker.schema.support import since

_POLLING = 1.0
"""Seconds between looks at the object store."""
_PARTS = 4
"""Of the path of an address: version, account, container, object."""
_SEEN = "seen"
"""Key of the progress: the signals that have come so far."""


class SwiftSignal(AwaitsSignals):
    """Waits for signals to a handle; looks for them from time to time."""

    type_name = "OS::Heat::SwiftSignal"
    description = "Waits until as many signals as are wanted have come to an address."
    support = since("2014.2")
    service = "object-store"
    handle, timeout, count, data = "handle", "timeout", "count", "data"
    properties = {
        "handle": HANDLE,
        "timeout": TIMEOUT,
        "count": declare.integer(
            "How many signals, with different ids, are waited for.",
            default=1,
            constraints=(Range(1, 1000),),
        ),
    }
    attributes = {"data": DATA}

    def create(self, call: Call) -> Outcome:
        """Wait for the signals."""
        seen = _with_new(call.progress.get(_SEEN, []), _object(call).versions())
        outcome = super().create(_told(call, seen))
        if isinstance(outcome, Wait):
            after = min(outcome.after, _POLLING)
            return replace(outcome, after=after, on_signal=False, progress={_SEEN: seen})
        if isinstance(outcome, Failed) and outcome.kind is not None:
            return replace(outcome, kind=outcome.kind.replace("WaitCondition", "SwiftSignal"))
        return outcome

    def read(self, call: Call) -> Mapping[str, Any]:
        """The data of all signals that are kept."""
        return super().read(_told(call, _with_new([], _object(call).versions())))


def _told(call: Call, seen: Sequence[str]) -> Call:
    """The call with these texts as its signals."""
    signals = [Signal(str(n), call.now, _details(text, n)) for n, text in enumerate(seen, 1)]
    return replace(call, signals={call.properties["handle"]: signals})


def _with_new(seen: Sequence[str], contents: Sequence[bytes]) -> list[str]:
    """What has been seen before, and what is new.

    An object store that keeps all versions shows all that came; of another one, what is written
    over between two looks is lost.
    """
    found = [content.decode(errors="replace") for content in contents]
    if found[: len(seen)] == list(seen):
        return found
    return [*seen, *(text for text in found if text not in seen)]


def _details(text: str, number: int) -> dict[str, Any]:
    """A signal as wait conditions know them; all that it leaves out is filled in."""
    try:
        body = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        body = {"data": text}
    if not isinstance(body, Mapping):
        body = {"data": body}
    return {
        "id": str(body.get("id", number)),
        "status": body.get("status", SUCCESS),
        "reason": body.get("reason", f"Signal {number} received"),
        "data": body.get("data"),
    }


def _object(call: Call) -> StoredObject:
    """The object that a handle of this stack leads to. Raises Invalid for anything else."""
    handle = str(call.properties["handle"])
    parts = [unquote(part) for part in urlsplit(handle).path.strip("/").split("/")][-_PARTS:]
    if len(parts) < _PARTS or parts[2] != call.stack.id:
        raise Invalid(f"{handle[:255]} is not a valid SwiftSignalHandle of this stack")
    return StoredObject(call, parts[2], parts[3])
