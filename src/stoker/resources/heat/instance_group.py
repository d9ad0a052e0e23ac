"""OS::Heat::InstanceGroup: a fixed number of instances from a launch configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared.groups import instance_groups
from stoker.schema.resource_type import Nested, NestingCall, NestingType

_POLICY = "RollingUpdate"


class InstanceGroup(NestingType):
    """A group of instances. Failed ones are removed first, then the oldest."""

    type_name = "OS::Heat::InstanceGroup"
    description = "A number of instances from a launch configuration."
    properties = {
        **instance_groups.PROPERTIES,
        "LaunchConfigurationName": declare.string(
            "Launch configuration of the instances.", required=True, update_allowed=True
        ),
        "Size": declare.integer("Number of instances.", required=True, update_allowed=True),
    }
    attributes = instance_groups.ATTRIBUTES
    update_policies = {_POLICY: instance_groups.ROLLING}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the size is not negative."""
        size = properties.get("Size")
        if isinstance(size, int) and size < 0:
            return [Diagnostic("bad-sizes", f"Size ({size}) must be at least 0", ("Size",))]
        return []

    def has_attribute(self, name: str) -> bool:
        """Return False: there are only the declared attributes."""
        return False

    def nested(self, call: NestingCall) -> Nested:
        """Return the nested stack of the instances."""
        tags = instance_groups.metering_tags(call, "groupname")
        policy = call.update_policy.get(_POLICY)
        return instance_groups.nested(call, call.properties["Size"], policy, tags)
