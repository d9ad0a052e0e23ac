"""AWS::AutoScaling::AutoScalingGroup: instances whose number scaling policies change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.errors import NOT_SUPPORTED
from stoker.resources.base import declare
from stoker.resources.shared.groups import instance_groups
from stoker.resources.shared.groups.group_members import (
    capacity,
    resized,
    settled,
    size_findings,
    target_size,
)
from stoker.schema.resource_type import (
    Adjustment,
    Nested,
    NestingCall,
    Resized,
    ScalableType,
)
from stoker.schema.support import since

_POLICY = "AutoScalingRollingUpdate"
_SOURCES = (instance_groups.NAME, instance_groups.SERVER)
_SIZES = ("MinSize", "MaxSize", "DesiredCapacity")


class AutoScalingGroup(ScalableType):
    """A scaling group of instances. Failed ones are removed first, then the oldest."""

    type_name = "AWS::AutoScaling::AutoScalingGroup"
    description = "Instances whose number is controlled by scaling policies."
    support = since("2014.1")
    properties = {
        **instance_groups.PROPERTIES,
        "Cooldown": declare.integer(
            "Seconds after a change of size during which further changes are ignored.",
            update_allowed=True,
        ),
        "DesiredCapacity": declare.integer(
            "Initial number of instances; also applied by every update.", update_allowed=True
        ),
        "HealthCheckGracePeriod": declare.integer("Not available.", implemented=False),
        "HealthCheckType": declare.choice(["EC2", "ELB"], "Not available.", implemented=False),
        "InstanceId": declare.checked(
            "nova.server",
            "Server to copy the properties of the instances from, instead of a launch "
            "configuration.",
        ),
        "LaunchConfigurationName": declare.string(
            "Launch configuration of the instances.", update_allowed=True
        ),
        "MaxSize": declare.integer(
            "Maximum number of instances.", required=True, update_allowed=True
        ),
        "MinSize": declare.integer(
            "Minimum number of instances.", required=True, update_allowed=True
        ),
        "VPCZoneIdentifier": declare.sequence(
            "Subnet of the instances, by name or id, as a list with one entry.",
            items=declare.string(),
        ),
    }
    attributes = instance_groups.ATTRIBUTES
    update_policies = {_POLICY: instance_groups.ROLLING}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check the sizes, that there is at most one subnet, and exactly one source of
        properties."""
        found = size_findings(properties, *_SIZES)
        subnets = properties.get("VPCZoneIdentifier")
        if isinstance(subnets, list) and len(subnets) > 1:
            message = "instances are in one subnet: VPCZoneIdentifier has at most one entry"
            place = ("VPCZoneIdentifier",)
            found.append(Diagnostic("several-subnets", message, place, error_type=NOT_SUPPORTED))
        return [*found, *_source(properties)]

    def has_attribute(self, name: str) -> bool:
        """Return False: there are only the declared attributes."""
        return False

    def nested(self, call: NestingCall) -> Nested:
        """Return the nested stack of the instances."""
        desired = call.properties
        size = target_size(call, desired["DesiredCapacity"], desired["MinSize"], desired["MaxSize"])
        tags = instance_groups.metering_tags(call, "groupname", "AutoScalingGroupName")
        subnet = next(iter(desired["VPCZoneIdentifier"] or ()), None)
        return instance_groups.nested(call, size, call.update_policy.get(_POLICY), tags, subnet)

    def resized(self, call: NestingCall, adjustment: Adjustment) -> Resized:
        """Return the data with the new size. Raise NoChangeError if it stays the same."""
        desired = call.properties
        return resized(
            call, adjustment, desired["MinSize"], desired["MaxSize"], desired["Cooldown"]
        )

    def capacity(self, call: NestingCall) -> int:
        """Return the number of members."""
        return capacity(call)

    def settled(self, call: NestingCall, adjustment: Adjustment | None) -> Mapping[str, Any]:
        """Return the data with the start of the cooldown."""
        return settled(call, adjustment)


def _source(properties: Mapping[str, Any]) -> list[Diagnostic]:
    """Require exactly one source of the instances."""
    sources = [name for name in _SOURCES if properties.get(name) is not None]
    if len(sources) == 1:
        return []
    message = f"instances are made from one of {' and '.join(_SOURCES)}: give one of them"
    code = "conflicting-properties" if sources else "missing-property"
    return [Diagnostic(code, message)]
