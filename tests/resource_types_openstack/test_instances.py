"""AWS::EC2::Instance is a server that is described in other words."""

from __future__ import annotations

import base64
from email import message_from_bytes
from typing import Any

import pytest
from tests.clouds.driving import Row
from tests.clouds.fake_cloud import FakeCloud
from tests.resource_types_heat.calls import findings

from stoker.resources.aws.ec2_instance import Instance
from stoker.resources.aws.launch_configuration import LaunchConfiguration
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.subnet import Subnet
from stoker.schema.resource_type import Done

BASIC = {"ImageId": "img", "InstanceType": "small"}


@pytest.fixture
def subnet(cloud: FakeCloud) -> str:
    net = Row(Net(), cloud.connection, {"name": "private"}).create()
    given = {"network": net.physical_id, "cidr": "10.0.0.0/24"}
    return str(Row(Subnet(), cloud.connection, given).create().physical_id)


def instance(cloud: FakeCloud, **given: Any) -> Row:
    return Row(Instance(), cloud.connection, {**BASIC, **given}, name="vm")


def live(cloud: FakeCloud) -> dict[str, Any]:
    [found] = cloud.all("servers")
    return found


def pair(key: str, value: str) -> dict[str, str]:
    return {"Key": key, "Value": value}


@pytest.mark.parametrize(
    ("given", "field", "wanted"),
    [
        ({}, "imageRef", "img"),
        ({}, "flavorRef", "small"),
        ({"KeyName": "mine"}, "key_name", "mine"),
        ({"AvailabilityZone": "nova"}, "availability_zone", "nova"),
        ({"Tags": [pair("a", "1"), pair("b", "2")]}, "metadata", {"a": "1", "b": "2"}),
        (
            {"SecurityGroups": ["web"], "SecurityGroupIds": ["sg-1"]},
            "security_groups",
            [{"name": "sg-1"}, {"name": "web"}],
        ),
    ],
)
def test_instance_properties_map_to_server_fields(
    cloud: FakeCloud, given: dict[str, Any], field: str, wanted: Any
) -> None:
    instance(cloud, **given).create()
    assert live(cloud)[field] == wanted


def test_volumes_are_created_or_attached_at_boot(cloud: FakeCloud) -> None:
    instance(
        cloud,
        BlockDeviceMappings=[{"DeviceName": "vdb", "Ebs": {"SnapshotId": "s", "VolumeSize": "2"}}],
        Volumes=[{"Device": "/dev/vdc", "VolumeId": "v"}],
    ).create()
    root, made, attached = live(cloud)["block_device_mapping_v2"]
    assert (root["uuid"], root["boot_index"]) == ("img", 0)
    assert (made["source_type"], made["uuid"], made["volume_size"]) == ("snapshot", "s", "2")
    assert made["delete_on_termination"] is True
    assert (attached["source_type"], attached["uuid"]) == ("volume", "v")
    assert attached["delete_on_termination"] is False


def test_instance_in_subnet_has_its_own_port(cloud: FakeCloud, subnet: str) -> None:
    row = instance(cloud, SubnetId=subnet).create()
    [port] = cloud.all("ports")
    assert port["fixed_ips"][0]["subnet_id"] == subnet
    assert live(cloud)["networks"] == [{"port": port["id"]}]
    assert isinstance(row.delete(), Done)
    assert cloud.all("ports") == cloud.all("servers") == []


def test_ports_are_ordered_and_outlive_the_instance(cloud: FakeCloud, subnet: str) -> None:
    network = cloud.all("networks")[0]["id"]
    first, second = (
        Row(Port(), cloud.connection, {"network": network}, name=name).create().physical_id
        for name in ("one", "two")
    )
    entries = [
        {"NetworkInterfaceId": second, "DeviceIndex": "1"},
        {"NetworkInterfaceId": first, "DeviceIndex": "0"},
    ]
    row = instance(cloud, NetworkInterfaces=entries).create()
    assert live(cloud)["networks"] == [{"port": first}, {"port": second}]
    assert isinstance(row.update(**{**row.given, "NetworkInterfaces": [first]}), Done)
    assert {port["id"]: bool(port["device_id"]) for port in cloud.all("ports")} == {
        first: True,
        second: False,
    }
    row.delete()
    assert len(cloud.all("ports")) == 2


def test_flavor_and_tags_change_in_place(cloud: FakeCloud) -> None:
    row = instance(cloud, Tags=[pair("a", "1")]).create()
    before = row.physical_id
    changed = {**BASIC, "InstanceType": "large", "Tags": [pair("b", "2")]}
    assert isinstance(row.update(**changed), Done)
    assert live(cloud)["metadata"] == {"b": "2"}
    assert live(cloud)["flavor"]["id"] == "large"
    assert row.physical_id == before


def test_script_is_passed_to_tools_in_server(cloud: FakeCloud) -> None:
    instance(cloud, UserData="#!/bin/sh\necho hello").create()
    parts = message_from_bytes(base64.b64decode(live(cloud)["user_data"])).get_payload()
    assert isinstance(parts, list)
    texts = {part.get_filename(): part.get_payload(decode=True) for part in parts}
    assert texts["cfn-userdata"] == b"#!/bin/sh\necho hello"


def test_instance_is_found_by_token_in_its_name(cloud: FakeCloud) -> None:
    cloud.lose_answer("POST", "/servers")
    row = instance(cloud).create()
    assert row.physical_id == live(cloud)["id"]


@pytest.mark.parametrize(
    ("addresses", "private", "public"),
    [
        ({}, "0.0.0.0", "0.0.0.0"),
        ({"n": [{"addr": "10.0.0.3", "OS-EXT-IPS:type": "fixed"}]}, "10.0.0.3", "10.0.0.3"),
        (
            {
                "n": [
                    {"addr": "10.0.0.3", "OS-EXT-IPS:type": "fixed"},
                    {"addr": "203.0.113.7", "OS-EXT-IPS:type": "floating"},
                ]
            },
            "10.0.0.3",
            "203.0.113.7",
        ),
    ],
)
def test_public_address_is_the_floating_ip(
    cloud: FakeCloud, addresses: dict[str, Any], private: str, public: str
) -> None:
    row = instance(cloud).create()
    live(cloud)["addresses"] = addresses
    shown = row.read()
    assert (shown["PrivateIp"], shown["PublicIp"]) == (private, public)
    assert (shown["PrivateDnsName"], shown["PublicDnsName"]) == (private, public)


@pytest.mark.parametrize("name", ["SecurityGroups", "SecurityGroupIds"])
def test_ports_bring_their_security_groups_along(name: str) -> None:
    given = {**BASIC, "NetworkInterfaces": ["port"], name: ["web"]}
    assert [each.path for each in findings(Instance(), given)] == [(name,)]


def test_launch_configuration_copies_missing_values_from_server(cloud: FakeCloud) -> None:
    server = cloud.put(
        "servers",
        image={"id": "img"},
        flavor={"id": "small"},
        key_name="mine",
        security_groups=[{"name": "web"}, {"name": "web"}],
        status="ACTIVE",
    )
    given = {"InstanceId": server, "InstanceType": "large", "UserData": "x"}
    row = Row(LaunchConfiguration(), cloud.connection, given, name="launch").create()
    assert row.data["properties"] == {
        "ImageId": "img",
        "InstanceType": "large",
        "KeyName": "mine",
        "SecurityGroups": ["web"],
        "UserData": "x",
    }
    assert row.physical_id == f"web-launch-{row.token}"
