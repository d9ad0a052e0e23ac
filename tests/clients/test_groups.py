"""CloudFormation groups and a restarter, on real servers, with the ``openstack`` command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.clients.conftest import Shell
from tests.recovery.service import until

INSTANCE = {"ImageId": "host", "InstanceType": "m1.small"}
SCRIPT = {"Fn::Base64": {"Fn::Join": ["", ["#!/bin/sh\n", "echo ", {"Ref": "Text"}, "\n"]]}}
FILES = {"/etc/motd": {"content": {"Ref": "Text"}}}
ROLLING = {"MinInstancesInService": "1", "MaxBatchSize": "1", "PauseTime": "PT1S"}
TEMPLATE: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {"Text": {"Type": "String", "Default": "one"}},
    "Resources": {
        "Network": {"Type": "OS::Neutron::Net"},
        "Subnet": {
            "Type": "OS::Neutron::Subnet",
            "Properties": {"network": {"Ref": "Network"}, "cidr": "10.31.0.0/24"},
        },
        "LaunchConfig": {
            "Type": "AWS::AutoScaling::LaunchConfiguration",
            "Metadata": {"AWS::CloudFormation::Init": {"config": {"files": FILES}}},
            "Properties": {**INSTANCE, "UserData": SCRIPT},
        },
        "Servers": {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "UpdatePolicy": {"AutoScalingRollingUpdate": ROLLING},
            "Properties": {
                "AvailabilityZones": {"Fn::GetAZs": ""},
                "LaunchConfigurationName": {"Ref": "LaunchConfig"},
                "MinSize": "1",
                "MaxSize": "2",
                "VPCZoneIdentifier": [{"Ref": "Subnet"}],
            },
        },
        "ScaleUp": {
            "Type": "AWS::AutoScaling::ScalingPolicy",
            "Properties": {
                "AdjustmentType": "ChangeInCapacity",
                "AutoScalingGroupName": {"Ref": "Servers"},
                "ScalingAdjustment": "1",
            },
        },
        "Database": {
            "Type": "AWS::EC2::Instance",
            "Properties": {**INSTANCE, "SubnetId": {"Ref": "Subnet"}},
        },
        "Restart": {
            "Type": "OS::Heat::HARestarter",
            "Properties": {"InstanceId": {"Ref": "Database"}},
        },
    },
    "Outputs": {
        "Addresses": {"Value": {"Fn::GetAtt": ["Servers", "InstanceList"]}},
        "Database": {"Value": {"Ref": "Database"}},
        "ScaleUp": {"Value": {"Ref": "ScaleUp"}},
        "Restart": {"Value": {"Fn::GetAtt": ["Restart", "AlarmUrl"]}},
    },
}


@pytest.mark.long
def test_group_scales_rolls_and_replaces_killed_server(shell: Shell, tmp_path: Path) -> None:
    template = tmp_path / "app.template"
    template.write_text(json.dumps(TEMPLATE))

    def output(name: str) -> str:
        return str(shell.data(f"stack output show app {name}")["output_value"])

    def signal(url: str) -> None:
        with urlopen(Request(url, method="POST")) as answer:
            assert answer.status == 200

    shell.run(f"stack create -t {template} app --wait")
    assert shell.data("stack show app")["stack_status"] == "CREATE_COMPLETE"
    [first] = output("Addresses").split(",")
    signal(output("ScaleUp"))
    until(lambda: len(output("Addresses").split(",")) == 2, "the group has grown")

    shell.run(f"stack update -t {template} app --parameter Text=two --wait")
    rolled = output("Addresses").split(",")
    assert len(rolled) == 2
    assert first not in rolled
    assert shell.data("stack show app")["stack_status"] == "UPDATE_COMPLETE"

    before, address = output("Database"), output("Restart")
    shell.run(f"server delete --wait {before}")
    signal(address)
    until(lambda: output("Database") != before, "the server is replaced")
    until(
        lambda: shell.data("stack show app")["stack_status"] == "UPDATE_COMPLETE",
        "the restart has ended",
    )
    assert shell.data(f"server show {output('Database')}")["status"] == "ACTIVE"
    assert output("Addresses").split(",") == rolled
    assert output("Restart") == address

    shell.run("stack delete app -y --wait")
    left = [server["Name"] for server in shell.data("server list")]
    assert not [name for name in left if name.startswith("app-")]
