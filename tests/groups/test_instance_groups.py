"""Groups of instances: members from a launch configuration, changed in batches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template
from tests.evaluating import with_helpers
from tests.resource_types_heat.calls import findings
from tests.simulation.world import CALLER

from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.values import replace
from stoker.resources.aws.autoscaling_group import AutoScalingGroup
from stoker.resources.aws.ec2_instance import Instance
from stoker.resources.aws.launch_configuration import LaunchConfiguration
from stoker.resources.aws.scaling_policy import AWSScalingPolicy
from stoker.resources.base.heat_catalog import declared
from stoker.resources.base.registry import Registry
from stoker.resources.heat.access_policy import AccessPolicy
from stoker.resources.heat.instance_group import InstanceGroup
from stoker.resources.shared.access import ALLOWED
from stoker.resources.shared.groups.instance_groups import BALANCER, CONFIGURATION, POOLS
from stoker.schema.resource_type import Nested, NestingCall, Referred
from stoker.schema.unknown import Unknown
from stoker.template.describe.resource_types import describe_type
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation

LAUNCH = {"ImageId": "cirros", "InstanceType": "m1.small", "UserData": "#!/bin/sh"}
LATE = Unknown(frozenset("r"))
CALL = NestingCall(
    "g",
    "id",
    {"LaunchConfigurationName": "launch", "LoadBalancerNames": None, "Size": 2, "Tags": None},
    reference="arn:g",
    referred={"launch": Referred(CONFIGURATION, {"properties": LAUNCH}, {"a": 1})},
)


def without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_texts(item) for key, item in value.items() if key != "description"}
    return [without_texts(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "type_",
    [
        AccessPolicy,
        AutoScalingGroup,
        AWSScalingPolicy,
        Instance,
        InstanceGroup,
        LaunchConfiguration,
    ],
)
def test_a_type_is_described_as_heat_describes_it(type_: Any) -> None:
    known = declared(type_.type_name)
    assert known is not None
    described = (describe_type(each, with_description=False) for each in (type_(), known))
    mine, recorded = map(without_texts, described)
    assert mine["properties"] == recorded["properties"]
    assert {**recorded["attributes"], "show": {"type": "map"}} == mine["attributes"]
    assert mine["support_status"] == recorded["support_status"]


def bodies(nested: Nested) -> list[dict[str, Any]]:
    """The members as the generated template defines them, oldest first."""
    assert not isinstance(nested.template, str)
    assert nested.template is not None
    assert nested.data is not None
    return [nested.template["resources"][name] for name in nested.data["names"]]


def test_instance_has_launch_configuration_and_metadata() -> None:
    tags = [{"Key": "metering.groupname", "Value": "arn:g"}]
    wanted = {
        "type": "OS::Heat::ScaledResource",
        "properties": {**LAUNCH, "Tags": tags},
        "metadata": {"a": 1},
    }
    assert bodies(InstanceGroup().nested(CALL)) == [wanted, wanted]


@pytest.mark.parametrize(
    ("tags", "keys"),
    [
        ([{"Key": "a", "Value": "b"}], ["a", "metering.groupname"]),
        ([{"Key": "metering.stack", "Value": "b"}], ["metering.stack"]),
    ],
)
def test_metering_tags_are_added_unless_user_has_some(
    tags: list[dict[str, str]], keys: list[str]
) -> None:
    call = replace(CALL, properties={**CALL.properties, "Tags": tags})
    assert [
        tag["Key"] for tag in bodies(InstanceGroup().nested(call))[0]["properties"]["Tags"]
    ] == keys


def test_group_without_launch_configuration_is_refused() -> None:
    for call in (
        replace(CALL, properties={**CALL.properties, "LaunchConfigurationName": "other"}),
        replace(CALL, referred={"launch": Referred("OS::Heat::Value", {}, {})}),
    ):
        with pytest.raises(DiagnosticError, match="not a launch configuration of this stack"):
            InstanceGroup().nested(call)


WEB = {"pool": "p1", "protocol_port": 80}
BALANCED = replace(
    CALL,
    properties={**CALL.properties, "LoadBalancerNames": ["web", "other"]},
    referred={
        **CALL.referred,
        "web": Referred(BALANCER, {POOLS: [WEB]}, {}),
        "other": Referred(BALANCER, {POOLS: [{"pool": "p2", "protocol_port": 81}]}, {}),
    },
)


def test_instances_join_each_pool_of_load_balancers() -> None:
    nested = InstanceGroup().nested(BALANCED)
    assert nested.data is not None
    assert isinstance(nested.template, dict)
    resources = nested.template["resources"]
    assert len(resources) == 6
    for name in nested.data["names"]:
        address = {"address": {"get_attr": [name, "PrivateIp"]}, "tags": ["stoker:group"]}
        assert resources[f"{name}-member-0"] == {
            "type": "OS::Octavia::PoolMember",
            "properties": {**WEB, **address},
        }
        assert resources[f"{name}-member-1"]["properties"]["pool"] == "p2"
    policy = {"RollingUpdate": {"MaxBatchSize": 1}}
    before = {**BALANCED.properties, "LaunchConfigurationName": "before"}
    rolled = InstanceGroup().nested(replace(BALANCED, previous=before, update_policy=policy))
    assert [sorted(batch) for batch in rolled.batches] == [
        [name, f"{name}-member-0", f"{name}-member-1"] for name in nested.data["names"]
    ]


@pytest.mark.parametrize(
    ("referred", "words"),
    [
        ({}, "not a load balancer of this stack"),
        (
            {"web": Referred("OS::Octavia::LoadBalancer", {}, {})},
            "not a load balancer of this stack",
        ),
        ({"web": Referred(BALANCER, {}, {})}, "this stack has not made it"),
    ],
)
def test_group_with_unknown_load_balancer_is_refused(
    referred: dict[str, Referred], words: str
) -> None:
    properties = {**CALL.properties, "LoadBalancerNames": ["web"]}
    call = replace(CALL, properties=properties, referred={**CALL.referred, **referred})
    with pytest.raises(DiagnosticError, match=words):
        InstanceGroup().nested(call)


@pytest.mark.parametrize(
    ("policy", "sizes", "pause"),
    [
        (None, [], 0),
        ({"MaxBatchSize": 2, "PauseTime": "PT1M5S"}, [2, 2, 1], 65),
        ({"MaxBatchSize": 4, "MinInstancesInService": 3, "PauseTime": "PT1H"}, [4, 1], 3600),
        ({"MinInstancesInService": 9}, [1, 1, 1, 1, 1], 0),
    ],
)
def test_instances_change_in_batches_by_policy(
    policy: dict[str, Any] | None, sizes: list[int], pause: float
) -> None:
    first = replace(CALL, properties={**CALL.properties, "Size": 5})
    made = InstanceGroup().nested(first)
    assert made.batches == ()
    call = replace(
        first,
        data=made.data or {},
        previous={**first.properties, "LaunchConfigurationName": "before"},
        update_policy={} if policy is None else {"RollingUpdate": policy},
    )
    changed = InstanceGroup().nested(call)
    assert [len(batch) for batch in changed.batches] == sizes
    assert changed.pause == pause
    same = replace(call, previous=first.properties)
    assert InstanceGroup().nested(same).batches == ()


@pytest.mark.parametrize("text", ["1M", "PT", "P1D", "PT1", "PT99999999S"])
def test_a_pause_that_is_no_duration_is_refused(text: str) -> None:
    call = replace(CALL, update_policy={"RollingUpdate": {"PauseTime": text}})
    with pytest.raises(DiagnosticError, match="PauseTime is a duration"):
        InstanceGroup().nested(call)


SCALED = {
    "AvailabilityZones": ["nova"],
    "LaunchConfigurationName": "l",
    "MinSize": 1,
    "MaxSize": 3,
}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, None),
        ({"MinSize": 4}, "bad-sizes"),
        ({"MinSize": -1}, "bad-sizes"),
        ({"DesiredCapacity": 4}, "bad-sizes"),
        ({"DesiredCapacity": 0}, "bad-sizes"),
        ({"VPCZoneIdentifier": ["a"]}, None),
        ({"VPCZoneIdentifier": ["a", "b"]}, "several-subnets"),
        ({"LoadBalancerNames": ["lb"]}, None),
        ({"LaunchConfigurationName": None}, "missing-property"),
        ({"LaunchConfigurationName": None, "InstanceId": "server"}, None),
        ({"InstanceId": "server"}, "conflicting-properties"),
    ],
)
def test_scaling_group_is_validated_before_creation(
    given: dict[str, Any], code: str | None
) -> None:
    found = [each.code for each in findings(AutoScalingGroup(), {**SCALED, **given})]
    assert found == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (LAUNCH, []),
        ({"InstanceId": "server"}, []),
        ({"ImageId": "i"}, ["missing-property"]),
        ({**LAUNCH, "BlockDeviceMappings": [{"DeviceName": "vdb"}]}, ["invalid-server"]),
        ({**LAUNCH, "BlockDeviceMappings": [{"DeviceName": "vdb", "Ebs": LATE}]}, []),
        (
            {
                **LAUNCH,
                "BlockDeviceMappings": [{"DeviceName": "vdb", "Ebs": {"SnapshotId": "s"}}],
            },
            [],
        ),
    ],
)
def test_launch_configuration_is_validated_before_creation(
    given: dict[str, Any], codes: list[str]
) -> None:
    assert [each.code for each in findings(LaunchConfiguration(), given)] == codes


@pytest.mark.parametrize("names", [[["a"]], [{"a": "b"}], [5]])
def test_access_policy_names_existing_resources_only(names: Any) -> None:
    wanted = template({"a": {"type": "OS::Heat::AccessPolicy", "properties": {ALLOWED: names}}})
    found = Evaluation(parse(wanted), with_helpers(), Registry()).validate()
    assert [(each.code, each.place) for each in found] == [
        ("no-such-resource", "resources.a.properties.AllowedResources[0]")
    ]


def stack(
    image: str = "cirros", metadata: dict[str, Any] | None = None, **group: Any
) -> dict[str, Any]:
    """A template with a launch configuration, a scaling group, its policy and an output."""
    rolling = {"AutoScalingRollingUpdate": {"MaxBatchSize": 1, "PauseTime": "PT10S"}}
    return template(
        {
            "launch": {
                "type": "AWS::AutoScaling::LaunchConfiguration",
                "metadata": metadata or {},
                "properties": {"ImageId": image, "InstanceType": "m1.small"},
            },
            "group": {
                "type": "AWS::AutoScaling::AutoScalingGroup",
                "update_policy": rolling,
                "properties": {
                    **SCALED,
                    "LaunchConfigurationName": {"get_resource": "launch"},
                    "DesiredCapacity": 2,
                    **group,
                },
            },
        },
        outputs={"list": {"value": {"get_attr": ["group", "InstanceList"]}}},
    )


async def listed(lab: Lab) -> str:
    """The addresses of the instances as the stack shows them."""
    address = await lab.engine.operations.find(CALLER, "stack")
    return str((await lab.engine.views.output(CALLER, address, "list")).value)


def test_the_list_of_instances_follows_the_group() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(stack())
        assert await lab.status() == "CREATE_COMPLETE"
        assert len((await listed(lab)).split(",")) == 2
        await lab.update(stack(DesiredCapacity=3))
        assert sorted((await listed(lab)).split(",")) == sorted(
            found.id for found in lab.cloud.objects.values()
        )
        assert len(lab.cloud.objects) == 3

    in_lab(story)


def test_new_launch_configuration_replaces_instances_in_batches() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(stack())
        before = set(lab.cloud.objects)
        began = lab.engine.ports.clock.now()
        await lab.update(stack("debian"))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert lab.engine.ports.clock.now() - began >= 10
        assert {found.properties["ImageId"] for found in lab.cloud.objects.values()} == {"debian"}
        assert not before & set(lab.cloud.objects)
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_group_modelled_on_server_survives_its_deletion() -> None:
    def like(server: str, **group: Any) -> dict[str, Any]:
        return stack(LaunchConfigurationName=None, InstanceId=server, **group)

    def images(lab: Lab) -> list[str]:
        return [found.properties["ImageId"] for found in lab.cloud.objects.values()]

    async def story(lab: Lab) -> None:
        await lab.create(like("one"))
        assert await lab.status() == "CREATE_COMPLETE"
        assert images(lab) == ["image of one"] * 2
        before = set(lab.cloud.objects)
        await lab.update(like("one", DesiredCapacity=3))
        assert before < set(lab.cloud.objects)
        assert len((await listed(lab)).split(",")) == 3
        await lab.update(like("two"))
        assert images(lab) == ["image of two"] * 2

    in_lab(story)


def test_only_new_metadata_replaces_launch_configuration() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(stack())
        first = (await lab.rows())["launch"].physical_id
        await lab.update(stack(MaxSize=5))
        assert (await lab.rows())["launch"].physical_id == first
        await lab.update(stack(MaxSize=5, metadata={"version": 2}))
        assert (await lab.rows())["launch"].physical_id != first
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_unknown_launch_configuration_is_refused_before_creation() -> None:
    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError, match="not a launch configuration of this stack"):
            await lab.create(stack(LaunchConfigurationName="elsewhere"))

    in_lab(story)


def test_signal_adds_instance_to_the_list() -> None:
    async def story(lab: Lab) -> None:
        policy = {
            "type": "Sim::Policy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": 1,
            },
        }
        wanted = stack()
        wanted["resources"]["policy"] = policy
        address = await lab.create(wanted)
        for size in (3, 3):
            await lab.engine.signals.signal(CALLER, address, "policy", {})
            await lab.engine.dispatch.idle()
            assert len((await listed(lab)).split(",")) == len(lab.cloud.objects) == size

    in_lab(story)


PROVIDER = {
    "heat_template_version": "2018-08-31",
    "parameters": {
        name: {"type": kind}
        for name, kind in {
            "ImageId": "string",
            "InstanceType": "string",
            "Tags": "comma_delimited_list",
        }.items()
    },
    "resources": {"thing": {"type": "Sim::Thing"}},
    "outputs": {"PublicIp": {"value": {"get_resource": "thing"}}},
}


def provided(provider: dict[str, Any]) -> dict[str, Any]:
    """The part of a request that puts a template in the place of AWS::EC2::Instance."""
    return {
        "environment": {"resource_registry": {"AWS::EC2::Instance": "provider.yaml"}},
        "files": {"provider.yaml": json.dumps(provider)},
    }


@pytest.mark.parametrize("kind", ["AWS::AutoScaling::AutoScalingGroup", "OS::Heat::InstanceGroup"])
def test_group_members_can_be_templates_without_all_attributes(kind: str) -> None:
    wanted = stack()
    wanted["resources"]["group"]["type"] = kind
    if kind == "OS::Heat::InstanceGroup":
        properties = {"Size": 2, "LaunchConfigurationName": {"get_resource": "launch"}}
        wanted["resources"]["group"] |= {
            "properties": {**properties, "AvailabilityZones": ["nova"]},
            "update_policy": {},
        }

    async def story(lab: Lab) -> None:
        await lab.create(wanted, **provided(PROVIDER))
        assert await lab.status() == "CREATE_COMPLETE", (await lab.stack()).reason
        assert sorted((await listed(lab)).split(",")) == sorted(lab.cloud.objects)
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_template_outside_group_needs_all_instance_attributes() -> None:
    given = {"ImageId": "cirros", "InstanceType": "m1.small", "Tags": []}
    single = template({"i": {"type": "AWS::EC2::Instance", "properties": given}})

    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError, match=r"Attribute PrivateIp .* missing in provider"):
            await lab.create(single, **provided(PROVIDER))

    in_lab(story)


def test_late_facade_fault_is_the_failure_reason() -> None:
    late = template(
        {
            "size": {"type": "Sim::Thing", "properties": {"value": "AWS::EC2::Instance"}},
            "group": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {"resource_def": {"type": {"get_attr": ["size", "value"]}}},
            },
        }
    )

    async def story(lab: Lab) -> None:
        await lab.create(late, **provided(PROVIDER))
        assert await lab.status() == "CREATE_FAILED"
        reason = (await lab.stack()).reason
        assert "Attribute PrivateIp for facade AWS::EC2::Instance missing in provider" in reason

    in_lab(story)
