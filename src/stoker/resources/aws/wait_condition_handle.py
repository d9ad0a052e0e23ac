"""CloudFormation's handle of a wait condition."""

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
from stoker.schema.resource_type import Call, ManagedType, Outcome, Signal
from stoker.schema.support import since


class WaitConditionHandle(ManagedType):
    """A signed address to which signals are sent. Calls the identity service."""

    type_name = "AWS::CloudFormation::WaitConditionHandle"
    description = "A signed address to which signals for a wait condition are sent."
    support = since("2014.1")
    service = "identity"

    def create(self, call: Call) -> Outcome:
        """Makes a stack user and the address that its key signs."""
        return make_handle(call)

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
