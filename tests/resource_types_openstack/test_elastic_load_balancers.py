"""Load balancers of CloudFormation: refusals and their reasons."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clouds.driving import Row
from tests.clouds.fake_services import FakeConnection, Kind, Service
from tests.resource_types_heat.calls import findings

from stoker.kernel.errors import RequestError
from stoker.resources.aws.elastic_load_balancer import LoadBalancer

LISTENER = {"InstancePort": 80, "LoadBalancerPort": 80, "Protocol": "HTTP"}
CHECK = {
    "Target": "TCP:80",
    "Interval": 5,
    "Timeout": 3,
    "HealthyThreshold": 2,
    "UnhealthyThreshold": 3,
}
GIVEN: dict[str, Any] = {"AvailabilityZones": ["nova"], "Listeners": [LISTENER]}


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({"HealthCheck": CHECK}, []),
        ({"Listeners": [LISTENER, {**LISTENER, "InstancePort": 81}]}, ["same-port"]),
        ({"HealthCheck": {**CHECK, "Target": "80/index.html"}}, ["bad-target"]),
        ({"HealthCheck": {**CHECK, "Timeout": 5}}, ["bad-interval"]),
    ],
)
def test_load_balancer_is_validated_before_creation(
    given: dict[str, Any], codes: list[str]
) -> None:
    assert [each.code for each in findings(LoadBalancer(), {**GIVEN, **given})] == codes


@pytest.mark.parametrize(
    ("instances", "words"),
    [
        ([], "in the project's subnet, and there are 0: give it an instance"),
        (["lost"], 'the network knows no address of the instance "lost"'),
    ],
)
def test_load_balancer_without_network_is_refused(instances: list[str], words: str) -> None:
    network = Service(
        (Kind("/subnets", "subnet", "subnets", "name"), Kind("/ports", "port", "ports", "name"))
    )
    row = Row(
        LoadBalancer(),
        FakeConnection({"network": network}),
        {**GIVEN, "Instances": instances},
    )
    with pytest.raises(RequestError, match=words):
        row.create()
