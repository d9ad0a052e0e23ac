"""A group whose size is changed by scaling policies; its members form a nested stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path
from stoker.resources.base import declare
from stoker.resources.shared import member_naming
from stoker.resources.shared.batches import ROLLING, Rolling
from stoker.resources.shared.group_members import (
    capacity,
    resized,
    roster,
    settled,
    size_findings,
    target_size,
)
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import (
    Adjustment,
    Nested,
    NestingCall,
    Resized,
    ScalableType,
)
from stoker.schema.support import since


class AutoScalingResourceGroup(ScalableType):
    """Members with names of their own; when the group shrinks, failed and old members go first."""

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
        "outputs": member_naming.ATTRIBUTES,
        "outputs_list": Attribute(
            "An attribute of each member, as a list.",
            Type.LIST,
            of_members=True,
            support=since("2014.2"),
        ),
        "current_size": Attribute("Number of members.", Type.INTEGER, support=since("2015.1")),
        "refs": Attribute("References of the members.", Type.LIST, support=since("7.0.0")),
        "refs_map": member_naming.REFS_MAP,
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """The desired size must lie within the bounds, and these in order."""
        return size_findings(properties, "min_size", "max_size", "desired_capacity")

    def has_attribute(self, name: str) -> bool:
        """Members are reached as ``resource.NAME``."""
        return name.startswith(member_naming.MEMBER)

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """The attribute that holds a value for each member, and the path into each of them."""
        if first not in ("outputs", "outputs_list") or not rest or not isinstance(rest[0], str):
            return None
        each = member_naming.by_name(rest[0]) if first == "outputs" else rest[0]
        return each, rest[1:]

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the members are known before all of their properties are."""
        return member_naming.are_known(properties, "resource")

    def written_at(self, path: Path) -> Path | None:
        """Return the place of a member's definition, which is that of all members."""
        return member_naming.written_at(path, "resource")

    def nested(self, call: NestingCall) -> Nested:
        """The nested stack of the members, in batches if their definition changes."""
        size = _target_size(call)
        member_naming.check_number(size)
        rolling = Rolling.of(call.properties["rolling_updates"])
        changes = call.previous and call.previous.get("resource") != call.properties["resource"]
        found = roster(call, size, rolling if changes else None)
        names = found.names
        bodies = dict.fromkeys(names, call.properties["resource"])
        # outside, members are numbered from the oldest: their names are random
        numbered = {str(number): name for number, name in enumerate(names)}
        used = set(call.attributes_used) - {"show"}
        shown = member_naming.outputs(names, self.attributes, used, numbered)
        shown["current_size"] = {"value": len(names)}
        return Nested(
            member_naming.template(bodies, shown),
            data=found.data,
            batches=rolling.batches(found.new, found.old) if changes else (),
            pause=rolling.pause_seconds,
        )

    def resized(self, call: NestingCall, adjustment: Adjustment) -> Resized:
        """The data with the new size. Raises NoChangeError."""
        wanted = call.properties
        return resized(call, adjustment, wanted["min_size"], wanted["max_size"], wanted["cooldown"])

    def capacity(self, call: NestingCall) -> int:
        """Return the number of members."""
        return capacity(call)

    def settled(self, call: NestingCall, adjustment: Adjustment | None) -> Mapping[str, Any]:
        """The data with the time at which the cooldown starts."""
        return settled(call, adjustment)


def _target_size(call: NestingCall) -> int:
    wanted = call.properties
    return target_size(call, wanted["desired_capacity"], wanted["min_size"], wanted["max_size"])
