"""Signals in the object store: servers write them to a temporary URL, the engine polls.

The container keeps earlier versions of the object, so several signals can arrive between two polls.
Signals that were seen are kept in the resource's data, encrypted, since they may contain secrets.

Tested by tests/resource_types_heat/test_waiting.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.shared.signals.wait_signals import SUCCESS, AwaitsSignals
from stoker.resources.shared.storage.temp_url import StoredObject
from stoker.schema.resource_type import Call, Outcome, Signal, Wait

_POLL_SECONDS = 1.0
_PARTS = 4  # of the path: version, account, container, object
_MAX_SIGNALS = 1000  # the API's limit is the same
# of all signals together: a server may write as much as the object store accepts
_MAX_CHARACTERS = 4 * 1024 * 1024
# Key of the data: the signals that were seen. An update that waits for more counts them, too.
_SEEN = "seen"


def make_address(call: Call) -> str:
    """Return a URL for signals, in a container that keeps versions if possible."""
    stored = _own_object(call)
    stored.ensure_versions()
    return stored.url("PUT")


def remove_signals(call: Call) -> None:
    """Delete all signals of this handle, and the container if no other handle uses it."""
    _own_object(call).remove_versions()


def is_address(handle: Any) -> bool:
    """Return whether a handle is a temporary URL of the object store."""
    return isinstance(handle, str) and "temp_url_sig=" in handle.partition("?")[2]


class AwaitsStoredSignals(AwaitsSignals):
    """A wait condition whose signals arrive at the API or in the object store."""

    def create(self, call: Call) -> Outcome:
        """Wait for the signals, polling if they are in the object store."""
        if self.service_for(call.properties) is None:
            return super().create(call)
        seen = self._seen(call)
        outcome = replace(super().create(self._with_stored_signals(call, seen)), data={_SEEN: seen})
        if isinstance(outcome, Wait):
            return replace(outcome, after=min(outcome.after, _POLL_SECONDS), on_signal=False)
        return outcome

    def counted_signals(self, call: Call) -> tuple[int, int]:
        """Return the number of signals at the last poll, and the expected number."""
        return super().counted_signals(self._with_stored_signals(call, call.data.get(_SEEN, [])))

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the data of all signals."""
        if self.service_for(call.properties) is None:
            return super().read(call)
        return super().read(self._with_stored_signals(call, self._seen(call)))

    def _seen(self, call: Call) -> list[str]:
        found = _counted(map(_text, self._object(call).versions()))
        return _counted(_with_new(call.data.get(_SEEN, []), found))

    def _with_stored_signals(self, call: Call, seen: Sequence[str]) -> Call:
        """Return the call with these texts as signals, after those that the API received."""
        handle = call.properties[self.handle]
        received = call.signals.get(handle, ())
        texts = enumerate(seen, len(received) + 1)
        stored = [Signal(str(number), call.now, _details(text, number)) for number, text in texts]
        return replace(call, signals={**call.signals, handle: [*received, *stored]})

    def _object(self, call: Call) -> StoredObject:
        """Return the object for the handle. Raise ValidationError for another stack's handle."""
        handle = str(call.properties[self.handle])
        parts = [unquote(part) for part in handle.partition("?")[0].split("/")][-_PARTS:]
        if len(parts) < _PARTS or parts[2] != call.stack.id:
            kind = self.type_name.rpartition("::")[2]
            raise ValidationError(f"{handle[:255]} is not a valid {kind}Handle of this stack")
        return StoredObject(call, parts[2], parts[3])


def _own_object(call: Call) -> StoredObject:
    return StoredObject(call, call.stack.id, call.physical_name)


def _text(stored: StoredObject) -> str:
    content = stored.read()
    return content.decode(json.detect_encoding(content), errors="replace")


def _counted(texts: Iterable[str]) -> list[str]:
    """Return the texts within the limits on number and total length."""
    found, room = [], _MAX_CHARACTERS
    for text in islice(texts, _MAX_SIGNALS):
        room -= len(text)
        if room < 0:
            break
        found.append(text)
    return found


def _with_new(seen: Sequence[str], found: Sequence[str]) -> Sequence[str]:
    """Return the signals seen before, followed by new ones.

    An object store with versions keeps all signals. Without versions, signals that are overwritten
    between two polls are lost.
    """
    if found[: len(seen)] == list(seen):
        return found
    return [*seen, *(text for text in found if text not in seen)]


def _details(text: str, number: int) -> dict[str, Any]:
    """Return a signal as wait conditions expect it, with defaults for absent keys."""
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
