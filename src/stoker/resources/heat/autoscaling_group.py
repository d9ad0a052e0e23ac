"""A group whose size is changed by scaling policies; its members form a nested stack."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources import declare
from stoker.resources.heat import members
from stoker.resources.heat.batches import ROLLING, in_batches
from stoker.resources.heat.capacity import adjusted, bounded
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import (
    Adjustment,
    Nested,
    NestingCall,
    NoChange,
    Resized,
    ScalableType,
)
from stoker.schema.support import since
from stoker.schema.unknown import Unknown

_NAME_LENGTH = 12


class AutoScalingResourceGroup(ScalableType):
    """Members with names of their own; when the group shrinks, failed and old members go first.

    The data holds the ``names`` of the members, oldest first, how many have been ``made`` so far,
    and when which policy has last changed the size (``scaled``).
    """

    type_name = "OS::Heat::AutoScalingGroup"
    description = "A group of identical resources whose size is controlled by scaling policies."
    support = since("2014.1")
    properties = {
        "resource": declare.mapping(
            "Definition of each member, as in a template.", required=True, update_allowed=True
        ),
        "max_size": declare.at_least(
            0, "Maximum number of members.", required=True, update_allowed=True
        ),
        "min_size": declare.at_least(
            0, "Minimum number of members.", required=True, update_allowed=True
        ),
        "cooldown": declare.integer(
            "Seconds after a change of size during which further changes are ignored.",
            update_allowed=True,
        ),
        "desired_capacity": declare.integer(
            "Initial number of members; also applied by every update.", update_allowed=True
        ),
        "rolling_updates": declare.mapping(
            "How members are updated when their definition changes.",
            default={"min_in_service": 0, "max_batch_size": 1, "pause_time": 0},
            update_allowed=True,
            entries=ROLLING,
        ),
    }
    attributes = {
        "outputs": members.ATTRIBUTES,
        "outputs_list": Attribute(
            "An attribute of each member, as a list.",
            Type.LIST,
            of_members=True,
            support=since("2014.2"),
        ),
        "current_size": Attribute("Number of members.", Type.INTEGER, support=since("2015.1")),
        "refs": Attribute("References of the members.", Type.LIST, support=since("7.0.0")),
        "refs_map": members.REFS_MAP,
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """The desired size must lie within the bounds, and these in order."""
        smallest, largest = properties.get("min_size"), properties.get("max_size")
        desired = properties.get("desired_capacity")
        if not isinstance(smallest, int) or not isinstance(largest, int):
            return []
        if smallest > largest:
            message = f"min_size ({smallest}) must not be above max_size ({largest})"
            return [Diagnostic("bad-sizes", message, ("min_size",))]
        if desired is None or isinstance(desired, Unknown) or smallest <= desired <= largest:
            return []
        message = f"desired_capacity ({desired}) must be from {smallest} to {largest}"
        return [Diagnostic("bad-sizes", message, ("desired_capacity",))]

    def has_attribute(self, name: str) -> bool:
        """Members are reached as ``resource.NAME``."""
        return name.startswith(members.MEMBER)

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """The attribute that holds a value for each member, and the path into each of them."""
        if first not in ("outputs", "outputs_list") or not rest or not isinstance(rest[0], str):
            return None
        each = members.by_name(rest[0]) if first == "outputs" else rest[0]
        return each, rest[1:]

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Whether the members are known before all of their properties are."""
        return members.are_known(properties, "resource")

    def nested(self, call: NestingCall) -> Nested:
        """The nested stack of the members, in batches if their definition changes."""
        members.check_number(_size(call))
        made = call.data.get("made", 0)
        names = _remaining(call, _size(call))
        while len(names) < _size(call):
            names.append(_name(call.resource_id, made))
            made += 1
        bodies = dict.fromkeys(names, call.properties["resource"])
        rolling = call.properties["rolling_updates"]
        changes = call.previous and call.previous.get("resource") != call.properties["resource"]
        # outside, members are numbered from the oldest: their names are random
        numbered = {str(number): name for number, name in enumerate(names)}
        shown = members.outputs(names, self.attributes, call.attributes_used, numbered)
        shown["current_size"] = {"value": len(names)}
        return Nested(
            members.template(bodies, shown),
            data={"names": names, "made": made, "scaled": call.data.get("scaled", {})},
            batches=in_batches(names, rolling) if changes else (),
            pause=float(rolling["pause_time"] or 0),
        )

    def resized(self, call: NestingCall, adjustment: Adjustment) -> Resized:
        """The data with the new size. Raises NoChange."""
        _check_cooldown(call, adjustment)
        size = len(call.data["names"])
        new = bounded(
            adjusted(size, adjustment), call.properties["min_size"], call.properties["max_size"]
        )
        if new == size:
            raise NoChange(f"no change: {call.name} has {size} members already")
        return Resized({**call.data, "size": new}, f"{call.name}: from {size} to {new} members")

    def settled(self, call: NestingCall, adjustment: Adjustment) -> Mapping[str, Any]:
        """The data with the time at which the cooldown begins."""
        return {**call.data, "scaled": {**call.data["scaled"], adjustment.policy: call.now}}


def _size(call: NestingCall) -> int:
    """The target size: as adjusted, or unchanged; the desired size if the definition is new."""
    size: int = call.data.get("size", len(call.data.get("names", ())))
    if "names" not in call.data or dict(call.previous) != dict(call.properties):
        size = call.properties["desired_capacity"] or size
    return bounded(size, call.properties["min_size"], call.properties["max_size"])


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


def _check_cooldown(call: NestingCall, adjustment: Adjustment) -> None:
    """Raise NoChange during the cooldown of the group or the policy."""
    scaled: Mapping[str, float] = call.data.get("scaled", {})
    ends = [max(scaled.values(), default=0) + (call.properties["cooldown"] or 0)]
    ends.append(scaled.get(adjustment.policy, 0) + adjustment.cooldown)
    left = max(ends) - call.now
    if scaled and left > 0:
        raise NoChange(f"no change: {call.name} cools down for {left:.0f} s more")
