"""OS::Heat::AutoScalingGroup: identical resources whose number scaling policies change.

The members form a nested stack. A signal to a policy has the engine call ``resized``, update the
nested stack and call ``settled`` at the end, which starts the cooldown. Members have random names
that are never reused; :mod:`stoker.resources.shared.groups.group_members` chooses which ones stay.

Tested by tests/scaling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path
from stoker.resources.base import declare
from stoker.resources.shared.groups import member_naming
from stoker.resources.shared.groups.batches import ROLLING, Rolling
from stoker.resources.shared.groups.group_members import (
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
    """A scaling group of any resource type. Failed members are removed first, then the oldest."""

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
            "Rolling update of the members when their definition changes.",
            default={"min_in_service": 0, "max_batch_size": 1, "pause_time": 0},
            update_allowed=True,
            entries=ROLLING,
        ),
    }
    attributes = {
        "outputs": member_naming.ATTRIBUTES,
        "outputs_list": Attribute(
            "List of one attribute's values, one for each member.",
            Type.LIST,
            of_members=True,
            support=since("2014.2"),
        ),
        "current_size": Attribute("Number of members.", Type.INTEGER, support=since("2015.1")),
        "refs": Attribute("References of the members.", Type.LIST, support=since("7.0.0")),
        "refs_map": member_naming.REFS_MAP,
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the sizes are in order: minimum, desired, maximum."""
        return size_findings(properties, "min_size", "max_size", "desired_capacity")

    def has_attribute(self, name: str) -> bool:
        """Return whether the name is that of a member's attribute, as ``resource.NAME``."""
        return name.startswith(member_naming.MEMBER)

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """Return the attribute that has one value for each member, and the path into each value."""
        if first not in ("outputs", "outputs_list") or not rest or not isinstance(rest[0], str):
            return None
        each = member_naming.by_name(rest[0]) if first == "outputs" else rest[0]
        return each, rest[1:]

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the members are known although some of their properties are not.

        A rolling update may need additional members, but only if the definition changes.
        """
        rolling = Rolling.of(properties.get("rolling_updates") or {})
        stays = rolling.min_in_service == 0 and rolling.max_batch_size == 1
        return stays and member_naming.are_known(properties, "resource")

    def written_at(self, path: Path) -> Path | None:
        """Return the place of a member's definition; all members share it."""
        return member_naming.written_at(path, "resource")

    def nested(self, call: NestingCall) -> Nested:
        """Return the nested stack of the members, in batches if their definition changes."""
        size = _target_size(call)
        member_naming.check_number(size)
        rolling = Rolling.of(call.properties["rolling_updates"])
        changes = call.previous and call.previous.get("resource") != call.properties["resource"]
        found = roster(call, size, rolling if changes else None)
        names = found.names
        bodies = dict.fromkeys(names, call.properties["resource"])
        # Users address members by their number, the oldest first, since the names are random.
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
        """Return the data with the new size. Raise NoChangeError if it stays the same."""
        desired = call.properties
        return resized(
            call, adjustment, desired["min_size"], desired["max_size"], desired["cooldown"]
        )

    def capacity(self, call: NestingCall) -> int:
        """Return the number of members."""
        return capacity(call)

    def settled(self, call: NestingCall, adjustment: Adjustment | None) -> Mapping[str, Any]:
        """Return the data with the start of the cooldown."""
        return settled(call, adjustment)


def _target_size(call: NestingCall) -> int:
    desired = call.properties
    return target_size(call, desired["desired_capacity"], desired["min_size"], desired["max_size"])
