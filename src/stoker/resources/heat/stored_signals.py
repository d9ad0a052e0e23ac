"""Signals that servers write to an object of the object store, and the polls for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.shared.temp_url import StoredObject
from stoker.resources.shared.wait_signals import SUCCESS, AwaitsSignals
from stoker.schema.resource_type import Call, Outcome, Signal, Wait

_POLLING = 1.0
"""Seconds between looks at the object store."""
_PARTS = 4
"""Of the path of an address: version, account, container, object."""
_MOST = 1000
"""Signals that count, as of those that the API is told."""
_MOST_CHARACTERS = 4 * 1024 * 1024
"""Of all signals together: whoever has the address may write as much as the store takes."""
_SEEN = "seen"
"""Key of the data: the signals that have come so far; they may be anything, so they are kept
encrypted, and an update that waits for more counts them as well.
"""


def make_address(call: Call) -> str:
    """An address that takes the signals of this handle; they are kept where it is possible."""
    stored = _own_object(call)
    stored.ensure_versions()
    return stored.url("PUT")


def remove_signals(call: Call) -> None:
    """Remove all signals of this handle, and the container if no other handle uses it."""
    _own_object(call).remove_versions()


def is_address(handle: Any) -> bool:
    """Return whether signals to this handle are in the object store."""
    return isinstance(handle, str) and "temp_url_sig=" in handle.partition("?")[2]


class AwaitsStoredSignals(AwaitsSignals):
    """Waits for signals to a handle. Those in the object store it looks for from time to time."""

    def create(self, call: Call) -> Outcome:
        """Wait for the signals."""
        if self.service_for(call.properties) is None:
            return super().create(call)
        seen = self._seen(call)
        outcome = replace(super().create(self._told(call, seen)), data={_SEEN: seen})
        if isinstance(outcome, Wait):
            return replace(outcome, after=min(outcome.after, _POLLING), on_signal=False)
        return outcome

    def counted_signals(self, call: Call) -> tuple[int, int]:
        """Return the numbers of signals at the last poll, and of wanted ones."""
        return super().counted_signals(self._told(call, call.data.get(_SEEN, [])))

    def read(self, call: Call) -> Mapping[str, Any]:
        """The data of all signals."""
        if self.service_for(call.properties) is None:
            return super().read(call)
        return super().read(self._told(call, self._seen(call)))

    def _seen(self, call: Call) -> list[str]:
        found = _counted(map(_text, self._object(call).versions()))
        return _counted(_with_new(call.data.get(_SEEN, []), found))

    def _told(self, call: Call, seen: Sequence[str]) -> Call:
        """The call with these texts as signals, after those that the API was told."""
        handle = call.properties[self.handle]
        told = call.signals.get(handle, ())
        texts = enumerate(seen, len(told) + 1)
        stored = [Signal(str(number), call.now, _details(text, number)) for number, text in texts]
        return replace(call, signals={**call.signals, handle: [*told, *stored]})

    def _object(self, call: Call) -> StoredObject:
        """The object that a handle of this stack leads to. Raises ValidationError for anything
        else.
        """
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
    """Those that count; no more are read."""
    found, room = [], _MOST_CHARACTERS
    for text in islice(texts, _MOST):
        room -= len(text)
        if room < 0:
            break
        found.append(text)
    return found


def _with_new(seen: Sequence[str], found: Sequence[str]) -> Sequence[str]:
    """Return the signals seen before, followed by new ones.

    An object store with versions keeps all signals; without, those overwritten between two polls
    are lost.
    """
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
