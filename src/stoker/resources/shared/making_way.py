"""Objects that go before their replacement is made, because the service takes no second one.

A security group takes no two rules of the same meaning, a pool one health monitor. Where a change
replaces such an object by one that the service counts as the same, the old one is deleted first. If
the replacement cannot be made, or the update is rolled back, the object is created again from the
properties that it had; it has another id then.
"""

from __future__ import annotations

from typing import Any

from stoker.kernel.values import replace
from stoker.schema.resource_type import Adopts, Call, Done, Failed, ManagedType, Outcome, Wait, can

# Keys of the data: the id of the object that was deleted for a replacement, and whether the request
# that creates the object again may have been sent.
_RELEASED = "released"
_RETURNS = "returns"


class MakesWay(ManagedType):
    """An object that holds no data, and is made again if its replacement is not.

    The class comes before the one that has the other methods.
    """

    release_deletes = True

    def release(self, call: Call) -> Outcome:
        """Delete the object; its id is recorded first."""
        if call.physical_id is None:
            return Done()
        if call.data.get(_RELEASED) != call.physical_id:
            return Wait(after=0.0, data={**call.data, _RELEASED: call.physical_id})
        return self.delete(call)

    def reclaim(self, call: Call) -> Outcome:
        """Create the object again. One that exists before the first request belongs to others."""
        if _RELEASED not in call.data:
            return Done()
        gone = call.data[_RELEASED] == call.physical_id
        own = replace(call, physical_id=None if gone else call.physical_id)
        if gone:
            assert can(self, Adopts)
            found = self.find(own)
            if found is not None and _RETURNS not in call.data:
                return Failed(f"another object {found} exists in its place")
            if found is not None:
                return Wait(after=0.0, physical_id=found)
            if _RETURNS not in call.data:
                return Wait(after=0.0, data={**call.data, _RETURNS: True})
        outcome = self.create(own)
        if not isinstance(outcome, Done):
            return outcome
        data = call.data if outcome.data is None else outcome.data
        return replace(outcome, data={k: v for k, v in data.items() if k not in _MARKS})

    def check(self, call: Call) -> Outcome:
        """Check the object; one that was deleted for a replacement can be created again."""
        if _RELEASED in call.data:
            return Done()
        beside: Any = super()
        outcome: Outcome = beside.check(call)
        return outcome


_MARKS = frozenset({_RELEASED, _RETURNS})
