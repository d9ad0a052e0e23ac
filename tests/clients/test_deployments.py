"""Deployments as heatclient sees them, in stacks that have nothing else that calls back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openstack
import pytest
from heatclient.client import Client

from tests.recovery.service import Service, until

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


@pytest.fixture(scope="module")
def heat(service: Service) -> Iterator[Any]:
    connection = openstack.connection.Connection(
        region_name="RegionOne", auth=service.credentials("stoker"), identity_api_version="3"
    )
    yield Client("1", session=connection.session, region_name="RegionOne")
    connection.close()


def deployed(type_name: str, server: str) -> dict[str, Any]:
    """A template that gives a server something to do; the server need not exist."""
    where = {"servers": {"0": server}} if type_name.endswith("Group") else {"server": server}
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "x"}},
            "deployment": {
                "type": type_name,
                "properties": {"config": {"get_resource": "config"}, **where},
            },
        },
    }


@pytest.mark.parametrize(
    ("type_name", "server"),
    [
        ("OS::Heat::SoftwareDeployment", "11111111-2222-4333-8444-555555555551"),
        ("OS::Heat::SoftwareDeploymentGroup", "11111111-2222-4333-8444-555555555552"),
    ],
)
def test_signed_url_of_deployment_accepts_the_report(
    heat: Any, type_name: str, server: str
) -> None:
    template = deployed(type_name, server)
    heat.stacks.create(stack_name="reports", template=template)
    offered = heat.software_deployments.metadata
    until(lambda: offered(server_id=server), "the server is given something to do")
    [given] = offered(server_id=server)
    inputs = {each["name"]: each["value"] for each in given["inputs"]}
    answer = httpx.post(inputs["deploy_signal_id"], json={}, timeout=30)
    assert answer.status_code == 200, answer.text
    until(lambda: heat.stacks.get("reports").stack_status == "CREATE_COMPLETE", "it is made")
    heat.stacks.delete("reports")
    until(lambda: not list(heat.stacks.list(filters={"name": "reports"})), "it is deleted")


def test_cancelled_deployment_is_shown_as_cancelled(heat: Any) -> None:
    server = "11111111-2222-4333-8444-555555555553"
    template = deployed("OS::Heat::SoftwareDeployment", server)
    handle = {"type": "OS::Heat::WaitConditionHandle"}
    failing = {
        "type": "OS::Heat::WaitCondition",
        "properties": {"handle": {"get_resource": "handle"}, "timeout": 60},
    }
    template["resources"] |= {"handle": handle, "failing": failing}
    heat.stacks.create(stack_name="given-up", template=template)

    def statuses() -> set[str]:
        listed = heat.software_deployments.list(server_id=server)
        return {f"{each.status}: {each.status_reason}" for each in listed}

    until(lambda: statuses() == {"IN_PROGRESS: Deploy data available"}, "it waits")
    heat.resources.signal("given-up", "handle", data={"status": "FAILURE", "reason": "no"})
    until(lambda: heat.stacks.get("given-up").stack_status == "CREATE_FAILED", "it is given up")
    until(lambda: statuses() == {"FAILED: Deployment cancelled."}, "it is seen to be")
    heat.stacks.delete("given-up")
    until(lambda: not list(heat.stacks.list(filters={"name": "given-up"})), "it is deleted")


def test_wait_condition_receives_temporary_url_signals(heat: Any) -> None:
    handle = {
        "type": "OS::Heat::WaitConditionHandle",
        "properties": {"signal_transport": "TEMP_URL_SIGNAL"},
    }
    condition = {
        "type": "OS::Heat::WaitCondition",
        "properties": {"handle": {"get_resource": "handle"}, "timeout": 60, "count": 3},
    }
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {"handle": handle, "condition": condition},
        "outputs": {"data": {"value": {"get_attr": ["condition", "data"]}}},
    }
    heat.stacks.create(stack_name="temporary", template=template)

    def begun() -> bool:
        reasons = [each.resource_status_reason for each in heat.resources.list("temporary")]
        return any("0 of 3" in reason for reason in reasons)

    until(begun, "it waits")
    shown = heat.resources.get("temporary", "handle").attributes
    url = json.loads(shown["signal"])["alarm_url"]
    for name in "abc":  # immediately, because the object store keeps the overwritten version
        signal = {"id": name, "data": name.upper()}
        assert httpx.put(url, json=signal, timeout=30).status_code == 201
    until(lambda: heat.stacks.get("temporary").stack_status == "CREATE_COMPLETE", "it is made")
    [output] = heat.stacks.get("temporary").outputs
    assert json.loads(output["output_value"]) == {"a": "A", "b": "B", "c": "C"}
    heat.stacks.delete("temporary")
    until(lambda: not list(heat.stacks.list(filters={"name": "temporary"})), "it is deleted")
    assert httpx.put(url, timeout=30).status_code == 404
