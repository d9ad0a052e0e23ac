"""Instances of a group behind the load balancer that it names, asked as a visitor asks."""

from __future__ import annotations

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.guests.stacks import Stacks
from tests.recovery.service import Service

pytestmark = pytest.mark.long
_SECONDS = 60
_PAGE = """#!/bin/sh
mkdir -p /srv/www && cd /srv/www
echo "$PAGE $(hostname)" > index.html
nohup python3 -m http.server 8080 > /dev/null 2>&1 &
"""
_ALONE = """#!/bin/sh
mkdir -p /srv/www && cd /srv/www
echo 'alone beside' > index.html
nohup python3 -m http.server 8080 > /dev/null 2>&1 &
"""


def _ref(name: str) -> dict[str, str]:
    return {"get_resource": name}


TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "parameters": {
        "page": {"type": "string", "default": "one"},
        "port": {"type": "number", "default": 8080},
        "beside": {"type": "boolean", "default": False},
    },
    "conditions": {"beside": {"get_param": "beside"}},
    "resources": {
        "open": {
            "type": "OS::Neutron::SecurityGroup",
            "properties": {"rules": [{"protocol": "tcp"}]},
        },
        "launch": {
            "type": "AWS::AutoScaling::LaunchConfiguration",
            "properties": {
                "ImageId": "host",
                "InstanceType": "m1.tiny",
                "SecurityGroups": [_ref("open")],
                "UserData": {
                    "str_replace": {"template": _PAGE, "params": {"$PAGE": {"get_param": "page"}}}
                },
            },
        },
        "balancer": {
            "type": "AWS::ElasticLoadBalancing::LoadBalancer",
            "properties": {
                "AvailabilityZones": ["nova"],
                "Instances": {"if": ["beside", [_ref("alone")], []]},
                "Listeners": [
                    {
                        "InstancePort": 8080,
                        "LoadBalancerPort": {"get_param": "port"},
                        "Protocol": "HTTP",
                    }
                ],
            },
        },
        "alone": {
            "type": "AWS::EC2::Instance",
            "properties": {
                "ImageId": "host",
                "InstanceType": "m1.tiny",
                "SecurityGroups": [_ref("open")],
                "UserData": _ALONE,
            },
        },
        "group": {
            "type": "AWS::AutoScaling::AutoScalingGroup",
            "properties": {
                "AvailabilityZones": ["nova"],
                "LaunchConfigurationName": _ref("launch"),
                "MinSize": 1,
                "MaxSize": 3,
                "DesiredCapacity": 2,
                "LoadBalancerNames": [_ref("balancer")],
            },
        },
        "up": {
            "type": "AWS::AutoScaling::ScalingPolicy",
            "properties": {
                "AutoScalingGroupName": _ref("group"),
                "AdjustmentType": "ChangeInCapacity",
                "ScalingAdjustment": "1",
            },
        },
        "address": {
            "type": "OS::Neutron::FloatingIP",
            "properties": {
                "floating_network": "public",
                "port_id": {"get_attr": ["balancer", "show", "vip_port_id"]},
            },
        },
    },
    "outputs": {
        "host": {"value": {"get_attr": ["address", "floating_ip_address"]}},
        "up": {"value": {"get_attr": ["up", "AlarmUrl"]}},
    },
}


class _Site:
    def __init__(self, stacks: Stacks, template: Path) -> None:
        self._stacks = stacks
        self._template = template
        self.outputs: dict[str, Any] = {}
        self._port = "8080"

    def deploy(self, **parameters: str) -> None:
        self.outputs = self._stacks.deploy(self._template, "balanced", **parameters)
        self._port = parameters.get("port", "8080")

    def grow(self) -> None:
        request = urllib.request.Request(self.outputs["up"], b"", method="POST")
        urllib.request.urlopen(request, timeout=30).close()

    def _ask(self) -> str:
        url = f"http://{self.outputs['host']}:{self._port}/"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                text: str = answer.read().decode().strip()
                return text
        except OSError as error:
            return f"error {error}"

    def settles_on(self, page: str, servers: int) -> None:
        """Request until exactly this number of servers answer, all with this page."""
        until, seen = time.monotonic() + _SECONDS, set[str]()
        while time.monotonic() < until:
            seen = {self._ask() for _ in range(3 * (servers + 1))}
            if len(seen) == servers and all(text.startswith(page) for text in seen):
                return
            time.sleep(0.3)
        raise AssertionError(f"{servers} servers with the page {page}, but {sorted(seen)}")

    def has(self, text: str) -> bool:
        return text in {self._ask() for _ in range(12)}


def test_load_balancer_follows_its_group(service: Service, tmp_path: Path) -> None:
    template = tmp_path / "balanced.json"
    template.write_text(json.dumps(TEMPLATE))
    stacks = Stacks(service.data_dir)
    site = _Site(stacks, template)
    site.deploy()
    site.settles_on("one", 2)
    site.grow()
    site.settles_on("one", 3)
    # the load balancer's own instances come and go, and those of the group stay
    site.deploy(beside="true")
    assert site.has("alone beside")
    site.deploy()
    site.settles_on("one", 3)
    # a new launch configuration, and so the desired size again
    site.deploy(page="two")
    site.settles_on("two", 2)
    # another port makes another load balancer
    site.deploy(page="two", port="8081")
    site.settles_on("two", 2)
    stacks.destroy("balanced")
