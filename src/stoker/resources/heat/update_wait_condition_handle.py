"""A handle that every update of its stack makes anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.resources.signed_handle import (
    describe_signal,
    handle_reference,
    make_handle,
    read_signal,
    remove_handle,
    shown_signals,
)
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, Signal
from stoker.schema.support import since


class UpdateWaitConditionHandle(ManagedType):
    """A signed address that lasts until the next update. Calls the identity service."""

    type_name = "OS::Heat::UpdateWaitConditionHandle"
    description = (
        "A signed address for signals that every update of the stack replaces, so that the wait "
        "condition behind it waits anew."
    )
    support = since("2014.1")
    service = "identity"

    def create(self, call: Call) -> Outcome:
        """Makes a stack user and the address that its key signs."""
        return make_handle(call)

    def update(self, call: Call) -> Outcome:
        """Never reached with a change: every update replaces the handle."""
        return Done()

    def needs_replacement(self, call: Call) -> bool:
        """Always."""
        return True

    def delete(self, call: Call) -> Outcome:
        """Removes the stack user."""
        return remove_handle(call)

    def reference(self, call: Call) -> Any:
        """The signed address."""
        return handle_reference(call)

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """The signal as it is stored; raises ``Invalid`` for an incomplete body."""
        return read_signal(details)

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """Status and reason of the signal."""
        return describe_signal(details)

    def signal_metadata(self, signals: Sequence[Signal]) -> Mapping[str, Any]:
        """The signals by their id."""
        return shown_signals(signals)
