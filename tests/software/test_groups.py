"""Groups of deployments: one for each server, in batches if a policy says so."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.resources.heat.software_deployment_group import SoftwareDeploymentGroup
from stoker.resources.heat.software_deployments import SoftwareDeployments
from stoker.resources.heat.structured_deployment_group import StructuredDeploymentGroup
from stoker.resources.heat.structured_deployments import StructuredDeployments
from stoker.schema.resource_type import Nested, NestingCall
from stoker.schema.support import Support
from stoker.schema.unknown import Unknown
from stoker.schema.values import check_properties

SERVERS = {"c": "3", "a": "1", "b": "2"}


def nested(given: dict[str, Any], type_: Any = None, **more: Any) -> Nested:
    type_ = type_ or SoftwareDeploymentGroup()
    checked = check_properties({"servers": SERVERS, **given}, type_.properties)
    assert not checked.errors
    found = type_.nested(NestingCall("g", "id", checked.values, **more))
    assert isinstance(found, Nested)
    return found


def resources(found: Nested) -> dict[str, Any]:
    assert isinstance(found.template, dict)
    return dict(found.template["resources"])


def test_each_server_has_a_deployment_of_its_name() -> None:
    given = {"config": "x", "actions": ["CREATE"], "input_values": {"i": 1}, "name": "n"}
    made = resources(nested(given))
    common = {**given, "signal_transport": "CFN_SIGNAL"}
    assert made == {
        name: {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {**common, "server": server},
        }
        for name, server in SERVERS.items()
    }


def test_structured_groups_have_structured_deployments() -> None:
    made = resources(nested({"input_key": "in"}, StructuredDeploymentGroup()))
    assert {body["type"] for body in made.values()} == {"OS::Heat::StructuredDeployment"}
    assert made["a"]["properties"]["input_key"] == "in"


def test_groups_work_under_former_hidden_names() -> None:
    for former, today in (
        (SoftwareDeployments(), SoftwareDeploymentGroup()),
        (StructuredDeployments(), StructuredDeploymentGroup()),
    ):
        assert nested({"config": "x"}, former) == nested({"config": "x"}, today)
        assert former.support.status is Support.HIDDEN


@pytest.mark.parametrize(
    ("attribute", "inner"),
    [
        ("deploy_stdouts", "deploy_stdout"),
        ("deploy_stderrs", "deploy_stderr"),
        ("deploy_status_codes", "deploy_status_code"),
        ("result", "result"),
    ],
)
def test_an_attribute_has_the_value_of_each_member(attribute: str, inner: str) -> None:
    found = nested({}, attributes_used=frozenset({attribute}))
    assert isinstance(found.template, dict)
    expected = {name: {"get_attr": [name, inner]} for name in SERVERS}
    assert found.template["outputs"][attribute] == {"value": expected}


ROLLING = {"rolling_update": {"max_batch_size": 2, "pause_time": 5}}
CREATING = {"batch_create": {"max_batch_size": 1, "pause_time": 3}}
ALL = {"a": "ra", "b": "rb", "c": "rc"}


@pytest.mark.parametrize(
    ("policy", "members", "previous", "batches", "pause"),
    [
        (CREATING, {}, {}, [["a"], ["b"], ["c"]], 3.0),
        (CREATING, {"a": "ra"}, {"config": "x"}, [["b"], ["c"]], 3.0),
        (CREATING, ALL, {"config": "old"}, [], 3.0),
        (ROLLING, {}, {}, [], 0.0),
        (ROLLING, ALL, {"config": "old"}, [["a", "b"], ["c"]], 5.0),
        (ROLLING, ALL, {"config": "x"}, [], 0.0),
        ({}, ALL, {"config": "old"}, [], 0.0),
    ],
)
def test_policies_say_which_deployments_go_together(
    policy: Any, members: Any, previous: Any, batches: Any, pause: float
) -> None:
    before = check_properties({"servers": SERVERS, **previous}, SoftwareDeploymentGroup.properties)
    found = nested(
        {"config": "x"},
        update_policy=policy,
        members=members,
        previous=before.values if previous else {},
    )
    assert [list(batch) for batch in found.batches] == batches
    assert found.pause == pause


def test_the_deployments_of_servers_to_be_are_foreseen() -> None:
    servers = {"a": Unknown(frozenset({"server"}))}
    assert SoftwareDeploymentGroup().foresees({"servers": servers, "config": "x"})
    assert not SoftwareDeploymentGroup().foresees({"servers": Unknown(frozenset({"x"}))})
