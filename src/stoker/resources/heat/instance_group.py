"""A number of instances from a launch configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared import instance_groups
from stoker.schema.resource_type import Nested, NestingCall, NestingType

_POLICY = "RollingUpdate"


class InstanceGroup(NestingType):
    """Instances with names of their own; when the group shrinks, failed and old ones go first."""

    type_name = "OS::Heat::InstanceGroup"
    description = "A number of instances from a launch configuration."
    properties = {
        **instance_groups.PROPERTIES,
        "LaunchConfigurationName": declare.string(
            "The launch configuration, by reference.", required=True, update_allowed=True
        ),
        "Size": declare.integer("Number of instances.", required=True, update_allowed=True),
    }
    attributes = instance_groups.ATTRIBUTES
    update_policies = {_POLICY: instance_groups.ROLLING}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """The size is a number of instances."""
        size = properties.get("Size")
        if isinstance(size, int) and size < 0:
            return [Diagnostic("bad-sizes", f"Size ({size}) must be at least 0", ("Size",))]
        return []

    def has_attribute(self, name: str) -> bool:
        """None but those that are declared."""
        return False

    def nested(self, call: NestingCall) -> Nested:
        """The nested stack of the instances."""
        tags = instance_groups.metering_tags(call, "groupname")
        policy = call.update_policy.get(_POLICY)
        return instance_groups.nested(call, call.properties["Size"], policy, tags)
