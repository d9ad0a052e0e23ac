"""Base of types whose old object must be deleted before its replacement is created.

Neutron accepts no two security group rules with the same meaning, Octavia no second health monitor
in a pool. Where a change replaces such an object by one that the service considers the same, the
old one is deleted first. If the replacement cannot be created, or the update is rolled back, the
object is created again from its recorded properties. It gets another id then.
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
    """A type whose object holds no data and can be created again.

    List this class before the base class that has the other methods.
    """

    release_deletes = True

    def release(self, call: Call) -> Outcome:
        """Delete the object, after its id was recorded."""
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
        """Check the object. One that was deleted for a replacement counts as healthy."""
        if _RELEASED in call.data:
            return Done()
        beside: Any = super()
        outcome: Outcome = beside.check(call)
        return outcome


_MARKS = frozenset({_RELEASED, _RETURNS})
