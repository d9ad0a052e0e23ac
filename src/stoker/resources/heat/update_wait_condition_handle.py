"""A handle that every update of its stack makes anew."""

from __future__ import annotations

from stoker.resources.shared.signed_handle import SignedHandle
from stoker.schema.resource_type import Call, Done, Outcome
from stoker.schema.support import since


class UpdateWaitConditionHandle(SignedHandle):
    """A signed address that lasts until the next update."""

    type_name = "OS::Heat::UpdateWaitConditionHandle"
    description = (
        "A signed address for signals that every update of the stack replaces, so that the wait "
        "condition behind it waits anew."
    )
    support = since("2014.1")

    def update(self, call: Call) -> Outcome:
        """Never reached with a change: every update replaces the handle."""
        return Done()

    def needs_replacement(self, call: Call) -> bool:
        """Always."""
        return True
