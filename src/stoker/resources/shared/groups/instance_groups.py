"""Groups of instances: OS::Heat::InstanceGroup and AWS::AutoScaling::AutoScalingGroup.

Size, update policy and launch configuration go in; the nested stack of the instances comes out. The
members get the properties of the launch configuration, which the group reads from the data of that
resource. Their type is ``OS::Heat::ScaledResource``: AWS::EC2::Instance, unless the environment
maps that name to a template. For each pool of each load balancer, the nested stack has a pool
member for each instance; load balancers keep the ids of their pools in their data.

Tested by tests/scaling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import refusal
from stoker.resources.base import declare
from stoker.resources.shared.groups import member_naming
from stoker.resources.shared.groups.batches import Rolling
from stoker.resources.shared.groups.group_members import roster
from stoker.resources.shared.instances import TAGS
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Nested, NestingCall

CONFIGURATION = "AWS::AutoScaling::LaunchConfiguration"
BALANCER = "AWS::ElasticLoadBalancing::LoadBalancer"
# Key of a load balancer's data: properties of a member of each pool, without its address.
POOLS = "pools"
# Tag of pool members that belong to a group, not to the load balancer's own instances.
GROUPED = "stoker:group"
METERED = "metered_as"  # Key of the data: group in the tags of its instances, if not the reference.
LAUNCHED = "properties"  # Key of a launch configuration's data: properties of its instances.
# Properties that a launch configuration copies from a server.
COPIED = ("ImageId", "InstanceType", "KeyName", "SecurityGroups")
NAME = "LaunchConfigurationName"
SERVER = "InstanceId"
_BALANCERS = "LoadBalancerNames"
_MEMBER = "OS::Heat::ScaledResource"
_POOL_MEMBER = "OS::Octavia::PoolMember"
_OWN = "launch"  # Name of the launch configuration that a group makes from a server.
_METERING = "metering."
_LONGEST_TAG = 255
_DURATION = re.compile(r"PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?")

PROPERTIES: Mapping[str, Property] = {
    "AvailabilityZones": declare.sequence("Accepted without effect.", required=True),
    _BALANCERS: declare.sequence("Load balancers that distribute requests to the instances."),
    "Tags": TAGS,
}
ATTRIBUTES = {
    "InstanceList": Attribute("Addresses of the instances, separated by commas.", Type.STRING)
}
ROLLING = declare.mapping(
    "Rolling update of the instances when the launch configuration changes.",
    entries={
        "MinInstancesInService": declare.at_least(
            0, "Minimum number of instances in service during the update.", default=0
        ),
        "MaxBatchSize": declare.at_least(1, "Maximum size of a batch.", default=1),
        "PauseTime": declare.string(
            "Pause between batches as an ISO 8601 duration, such as PT1M30S.", default="PT0S"
        ),
    },
)


def nested(
    call: NestingCall,
    size: int,
    policy: Mapping[str, Any] | None,
    tags: Sequence[Mapping[str, str]],
    subnet: str | None = None,
) -> Nested:
    """Return the nested stack of the instances, in batches if the update policy applies."""
    member_naming.check_number(size)
    rolling = _rolling(policy or {})
    changes = call.previous and call.previous.get(NAME) != call.properties[NAME]
    rolls = changes and policy is not None
    found = roster(call, size, rolling if rolls else None)
    names = found.names
    own = _own_configuration(call)
    body = _instance(call, tags, subnet)
    addresses = [{"get_attr": [name, "PublicIp"]} for name in names]
    listed = {"list_join": [",", addresses]} if names else None
    balanced = {name: _balanced(call, name, subnet) for name in names}
    batches = rolling.batches(found.new, found.old) if rolls else ()
    resources = {**own, **dict.fromkeys(names, body)}
    for parts in balanced.values():
        resources.update(parts)
    return Nested(
        member_naming.template(resources, {"InstanceList": {"value": listed}}),
        data={**found.data, **{key: call.data[key] for key in (METERED,) if key in call.data}},
        batches=tuple(
            (*batch, *(p for name in batch for p in balanced[name])) for batch in batches
        ),
        pause=rolling.pause_seconds,
    )


def metering_tags(call: NestingCall, *keys: str) -> list[Mapping[str, str]]:
    """Return the user's tags, and the group under each of these keys for meters.

    If the user set a metering tag, no tag is added.
    """
    tags: list[Mapping[str, str]] = list(call.properties["Tags"] or ())
    named = any(str(tag["Key"]).startswith(_METERING) for tag in tags)
    group = call.data.get(METERED, call.reference)
    if named or not 0 < len(group) <= _LONGEST_TAG:
        return tags
    return tags + [{"Key": f"{_METERING}{key}", "Value": group} for key in keys]


def _own_configuration(call: NestingCall) -> dict[str, Any]:
    """Return a launch configuration that copies the properties of the group's server."""
    server = call.properties.get(SERVER)
    if server is None:
        return {}
    return {_OWN: {"type": CONFIGURATION, "properties": {SERVER: server}}}


def _instance(
    call: NestingCall, tags: Sequence[Mapping[str, str]], subnet: str | None
) -> dict[str, Any]:
    """Return the definition of each member.

    Raise DiagnosticError without a launch configuration.
    """
    launched, metadata = _launched(call)
    properties = {**launched, "Tags": list(tags)}
    if subnet is not None:
        properties["SubnetId"] = subnet
    return {"type": _MEMBER, "properties": properties, "metadata": metadata}


def _launched(call: NestingCall) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return properties and metadata of each member, from launch configuration or server."""
    if call.properties.get(SERVER) is not None:
        return {name: {"get_attr": [_OWN, "show", name]} for name in COPIED}, {}
    name = call.properties[NAME]
    launch = call.referred.get(str(name))
    if launch is None or launch.type_name != CONFIGURATION:
        raise refusal(
            "no-launch-configuration",
            f'{NAME} is "{name}", which is not a launch configuration of this stack: refer to a'
            f" resource of type {CONFIGURATION}",
        )
    return launch.data[LAUNCHED], launch.metadata


def _balanced(call: NestingCall, name: str, subnet: str | None) -> dict[str, Any]:
    """Return pool members for an instance, one for each pool of the load balancers."""
    place: dict[str, Any] = {"address": {"get_attr": [name, "PrivateIp"]}, "tags": [GROUPED]}
    if subnet is not None:
        place["subnet"] = subnet
    return {
        f"{name}-member-{number}": {"type": _POOL_MEMBER, "properties": {**pool, **place}}
        for number, pool in enumerate(_pools(call))
    }


def _pools(call: NestingCall) -> Iterator[Mapping[str, Any]]:
    """Yield the pools of the load balancers. Raises DiagnosticError for other names."""
    for name in call.properties[_BALANCERS] or ():
        balancer = call.referred.get(str(name))
        if balancer is None or balancer.type_name != BALANCER:
            raise refusal(
                "no-load-balancer",
                f'{_BALANCERS} has "{name}", which is not a load balancer of this stack: refer to'
                f" resources of type {BALANCER}",
            )
        if POOLS not in balancer.data:
            raise refusal(
                "unknown-pools",
                f'the pools of the load balancer "{name}" are not known, as this stack has not made'
                " it: give the group a load balancer of the stack's own",
            )
        yield from balancer.data[POOLS]


def _rolling(policy: Mapping[str, Any]) -> Rolling:
    """Return the batches for an update policy. Raise DiagnosticError for an invalid pause."""
    text = str(policy.get("PauseTime") or "PT0S")
    found = _DURATION.fullmatch(text)
    if found is None or text == "PT":
        raise refusal("bad-duration", f'PauseTime is a duration such as PT1H30M5S, not "{text}"')
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return Rolling(
        int(policy.get("MinInstancesInService") or 0),
        int(policy.get("MaxBatchSize") or 1),
        float(3600 * hours + 60 * minutes + seconds),
    )
