"""The members of a group by names of their own: who stays, who is new, and when its size changed.

The data of such a group holds the ``names`` of the members, oldest first, how many have been
``made`` so far, and when which policy has last changed the size (``scaled``), with the time at
which a create or an update of the group has ended. An adjustment adds the ``size`` that it has set.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.shared.batches import Rolling
from stoker.resources.shared.capacity import adjusted, bounded
from stoker.schema.resource_type import Adjustment, NestingCall, NoChangeError, Resized

_NAME_LENGTH = 12
_GROUP = ""
"""In place of a policy: the time at which the group was created or last updated."""


def size_findings(
    properties: Mapping[str, Any], smallest: str, largest: str, desired: str
) -> list[Diagnostic]:
    """The desired size must lie within the bounds, and these in order; by names of properties."""
    least, most, wanted = (properties.get(name) for name in (smallest, largest, desired))
    if not isinstance(least, int) or not isinstance(most, int):
        return []
    if least < 0:
        return [Diagnostic("bad-sizes", f"{smallest} ({least}) must be at least 0", (smallest,))]
    if least > most:
        message = f"{smallest} ({least}) must not be above {largest} ({most})"
        return [Diagnostic("bad-sizes", message, (smallest,))]
    if not isinstance(wanted, int) or least <= wanted <= most:
        return []
    message = f"{desired} ({wanted}) must be from {least} to {most}"
    return [Diagnostic("bad-sizes", message, (desired,))]


def target_size(call: NestingCall, desired: int | None, smallest: int, largest: int) -> int:
    """The target size: as adjusted, or unchanged; the desired size if the definition is new."""
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
        """All members."""
        return [*self.old, *self.new]


def roster(call: NestingCall, size: int, rolling: Rolling | None = None) -> Roster:
    """The group with ``size`` members, some of them new if a rolling update needs that."""
    known = call.data.get("names", ())
    healthy = sum(name not in call.failed_members for name in known)
    created = 0 if rolling is None else rolling.new_members(healthy, size)
    old = _remaining(call, size - max(created, size - len(known)))
    made = call.data.get("made", 0)
    until = made + size - len(old)
    new = [_name(call.resource_id, number) for number in range(made, until)]
    scaled = call.data.get("scaled", {})
    return Roster(old, new, {"names": [*old, *new], "made": until, "scaled": scaled})


def resized(
    call: NestingCall, adjustment: Adjustment, smallest: int, largest: int, cooldown: int | None
) -> Resized:
    """The data with the new size. Raises NoChangeError."""
    _check_cooldown(call, adjustment, cooldown or 0)
    size = len(call.data["names"])
    new = bounded(adjusted(size, adjustment), smallest, largest)
    if new == size:
        raise NoChangeError(f"no change: {call.name} has {size} members already")
    return Resized({**call.data, "size": new}, f"{call.name}: from {size} to {new} members")


def capacity(call: NestingCall) -> int:
    """How many members there are."""
    return len(call.data.get("names", ()))


def settled(call: NestingCall, adjustment: Adjustment | None) -> Mapping[str, Any]:
    """The data with the time at which the cooldown starts: for a policy, or only for the group."""
    policy = _GROUP if adjustment is None else adjustment.policy
    return {**call.data, "scaled": {**call.data.get("scaled", {}), policy: call.now}}


def _remaining(call: NestingCall, size: int) -> list[str]:
    """The members that stay, oldest first: those that have failed go first, then the oldest."""
    known = list(call.data.get("names", ()))
    going = sorted(known, key=lambda name: name not in call.failed_members)
    gone = frozenset(going[: max(len(known) - size, 0)])
    return [name for name in known if name not in gone]


def _name(resource_id: str, number: int) -> str:
    """The name of the ``number``-th member ever created; names are never reused."""
    digest = hashlib.sha256(f"{resource_id}/{number}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:_NAME_LENGTH]


def _check_cooldown(call: NestingCall, adjustment: Adjustment, cooldown: int) -> None:
    """Raise NoChangeError during the cooldown of the group or the policy."""
    scaled: Mapping[str, float] = call.data.get("scaled", {})
    ends = [max(scaled.values(), default=0) + cooldown]
    ends.append(scaled.get(adjustment.policy, 0) + adjustment.cooldown)
    left = max(ends) - call.now
    if scaled and left > 0:
        raise NoChangeError(f"no change: {call.name} cools down for {left:.0f} s more")
