"""OS::Heat::UpdateWaitConditionHandle: a handle that every update replaces."""

from __future__ import annotations

from stoker.resources.shared.signals.signed_handle import SignedHandle
from stoker.schema.resource_type import Call, Done, Outcome
from stoker.schema.support import since


class UpdateWaitConditionHandle(SignedHandle):
    """A signed URL that is valid until the next update."""

    type_name = "OS::Heat::UpdateWaitConditionHandle"
    description = (
        "A signed URL for signals that every update of the stack replaces, so that its wait "
        "condition waits again."
    )
    support = since("2014.1")

    def update(self, call: Call) -> Outcome:
        """Return immediately; every update replaces the handle instead."""
        return Done()

    def needs_replacement(self, call: Call) -> bool:
        """Return True."""
        return True
