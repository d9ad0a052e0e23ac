"""Chooses the members of a scaling group: which stay, and which are new.

The data of such a group contain:

- ``names``: the members, oldest first;
- ``made``: the number of members created so far, so that names are never reused;
- ``scaled``: policy name -> time at which the policy last changed the size. The empty name is for
  creates and updates of the group itself;
- ``size``: the size that the last adjustment set.

A scaling signal changes only ``size``. The update that follows chooses the members. Failed members
are removed first, then the oldest.

Tested by tests/scaling.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.shared.groups.batches import Rolling
from stoker.resources.shared.groups.capacity import adjusted, bounded
from stoker.schema.resource_type import Adjustment, NestingCall, NoChangeError, Resized

_NAME_LENGTH = 12
_GROUP = ""  # Key in ``scaled`` for a create or update of the group itself.


def size_findings(
    properties: Mapping[str, Any], smallest: str, largest: str, desired: str
) -> list[Diagnostic]:
    """Check that the desired size is between the bounds; arguments are names of properties."""
    least, most, size = (properties.get(name) for name in (smallest, largest, desired))
    if not isinstance(least, int) or not isinstance(most, int):
        return []
    if least < 0:
        return [Diagnostic("bad-sizes", f"{smallest} ({least}) must be at least 0", (smallest,))]
    if least > most:
        message = f"{smallest} ({least}) must not be above {largest} ({most})"
        return [Diagnostic("bad-sizes", message, (smallest,))]
    if not isinstance(size, int) or least <= size <= most:
        return []
    message = f"{desired} ({size}) must be from {least} to {most}"
    return [Diagnostic("bad-sizes", message, (desired,))]


def target_size(call: NestingCall, desired: int | None, smallest: int, largest: int) -> int:
    """Return the target size, within the bounds.

    A new definition sets the desired size. Otherwise the size of the last adjustment stays.
    """
    size: int = call.data.get("size", len(call.data.get("names", ())))
    if "names" not in call.data or dict(call.previous) != dict(call.properties):
        size = desired or size
    return bounded(size, smallest, largest)


class Roster(Struct, frozen=True):
    """The members of a group, oldest first."""

    old: Sequence[str]
    new: Sequence[str]
    data: Mapping[str, Any]

    @property
    def names(self) -> list[str]:
        """Return all members."""
        return [*self.old, *self.new]


def roster(call: NestingCall, size: int, rolling: Rolling | None = None) -> Roster:
    """Return a group of ``size`` members. A rolling update may need additional new ones."""
    known = call.data.get("names", ())
    healthy = sum(name not in call.failed_members for name in known)
    created = 0 if rolling is None else rolling.new_members(healthy, size)
    old = _remaining(call, size - max(created, size - len(known)))
    next_number = call.data.get("made", 0)
    until = next_number + size - len(old)
    new = [_name(call.resource_id, number) for number in range(next_number, until)]
    scaled = call.data.get("scaled", {})
    return Roster(old, new, {"names": [*old, *new], "made": until, "scaled": scaled})


def resized(
    call: NestingCall, adjustment: Adjustment, smallest: int, largest: int, cooldown: int | None
) -> Resized:
    """Return the data with the new size.

    Raise NoChangeError for the same size or in the cooldown.
    """
    _check_cooldown(call, adjustment, cooldown or 0)
    size = len(call.data["names"])
    new = bounded(adjusted(size, adjustment), smallest, largest)
    if new == size:
        raise NoChangeError(f"no change: {call.name} has {size} members already")
    return Resized({**call.data, "size": new}, f"{call.name}: from {size} to {new} members")


def capacity(call: NestingCall) -> int:
    """Return the number of members."""
    return len(call.data.get("names", ()))


def settled(call: NestingCall, adjustment: Adjustment | None) -> Mapping[str, Any]:
    """Return the data with the start of the cooldown, for a policy or for the group itself."""
    policy = _GROUP if adjustment is None else adjustment.policy
    return {**call.data, "scaled": {**call.data.get("scaled", {}), policy: call.now}}


def _remaining(call: NestingCall, size: int) -> list[str]:
    """Return the members to keep, oldest first. Failed members are removed first."""
    known = list(call.data.get("names", ()))
    going = sorted(known, key=lambda name: name not in call.failed_members)
    gone = frozenset(going[: max(len(known) - size, 0)])
    return [name for name in known if name not in gone]


def _name(resource_id: str, number: int) -> str:
    """Return the name of the ``number``-th member ever created."""
    digest = hashlib.sha256(f"{resource_id}/{number}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:_NAME_LENGTH]


def _check_cooldown(call: NestingCall, adjustment: Adjustment, cooldown: int) -> None:
    """Raise NoChangeError during the cooldown of the group or of the policy."""
    scaled: Mapping[str, float] = call.data.get("scaled", {})
    ends = [max(scaled.values(), default=0) + cooldown]
    ends.append(scaled.get(adjustment.policy, 0) + adjustment.cooldown)
    left = max(ends) - call.now
    if scaled and left > 0:
        raise NoChangeError(f"no change: {call.name} cools down for {left:.0f} s more")
