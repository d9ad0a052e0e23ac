"""openstacksdk and python-heatclient as programs use them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openstack
import pytest
import yaml
from heatclient import exc
from heatclient.client import Client
from heatclient.common import template_utils
from openstack.connection import Connection

from tests.recovery.service import Service, until

# The libraries warn of their own code; that is none of the service's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

TEMPLATE = """
heat_template_version: 2018-08-31
description: Texts.
parameters:
  length: {type: number, default: 8}
resources:
  text:
    type: OS::Heat::RandomString
    properties: {length: {get_param: length}}
  value:
    type: OS::Heat::Value
    properties: {value: {get_attr: [text, value]}}
outputs:
  text: {value: {get_attr: [value, value]}, description: The text.}
"""
FAILING = """
heat_template_version: 2018-08-31
resources:
  bad: {type: "OS::Heat::TestResource", properties: {fail: true, value: x}}
"""
ENDED = ("COMPLETE", "FAILED")


@pytest.fixture(scope="module")
def cloud(service: Service) -> Iterator[Connection]:
    connection = openstack.connection.Connection(
        region_name="RegionOne", auth=service.credentials("stoker"), identity_api_version="3"
    )
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def heat(cloud: Connection) -> Any:
    """The client of heatclient, with the session of the other library."""
    return Client("1", session=cloud.session, region_name="RegionOne")


def await_end(heat: Any, name: str, wanted: str) -> None:
    until(lambda: heat.stacks.get(name).stack_status.endswith(ENDED), f"{name}: {wanted}")
    assert heat.stacks.get(name).stack_status == wanted


def test_openstacksdk_creates_reads_changes_and_deletes_a_stack(cloud: Connection) -> None:
    api = cloud.orchestration
    made = api.create_stack(name="sdk", template=TEMPLATE, timeout_mins=5, tags="x,y")
    stack = api.wait_for_status(
        api.get_stack(made.id), "CREATE_COMPLETE", failures=["CREATE_FAILED"], interval=0.1, wait=20
    )
    assert (stack.name, stack.status, stack.parameters["length"]) == (
        "sdk",
        "CREATE_COMPLETE",
        "8",
    )
    stack = api.find_stack("sdk")
    [output] = stack.outputs
    assert (output["output_key"], len(output["output_value"])) == ("text", 8)
    resources = {r.name: r for r in api.resources(stack)}
    assert set(resources) == {"text", "value"}
    assert resources["value"].resource_type == "OS::Heat::Value"
    events = list(api.stack_events(stack))
    assert len(events) == 6
    statuses = {e.resource_status for e in api.stack_events(stack, resource_name="text")}
    assert statuses == {"CREATE_IN_PROGRESS", "CREATE_COMPLETE"}
    assert [s.name for s in api.stacks(name="sdk")] == ["sdk"]
    template = api.get_stack_template(stack)
    assert template.description == "Texts."
    assert api.get_stack_environment(stack).parameters == {}
    assert dict(api.get_stack_files(stack)) == {}

    api.update_stack(stack, template=TEMPLATE, parameters={"length": 20})
    stack = api.wait_for_status(
        api.get_stack(stack.id), "UPDATE_COMPLETE", ["UPDATE_FAILED"], interval=0.1, wait=20
    )
    assert len(stack.outputs[0]["output_value"]) == 20

    api.delete_stack(stack, ignore_missing=False)
    until(lambda: api.find_stack("sdk") is None, "the stack is deleted")
    assert api.delete_stack(stack.id) is None
    with pytest.raises(openstack.exceptions.NotFoundException):
        api.get_stack("sdk")


def test_openstacksdk_deploys_files_in_one_call(cloud: Connection, tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text(TEMPLATE)
    made = cloud.create_stack(
        "one-call", template_file=str(tmp_path / "main.yaml"), wait=True, timeout=30, length=9
    )
    assert made.status == "CREATE_COMPLETE"
    assert len(made.outputs[0]["output_value"]) == 9
    assert "one-call" in {stack.name for stack in cloud.list_stacks()}
    assert cloud.delete_stack("one-call", wait=True)
    assert cloud.get_stack("one-call") is None


def test_openstacksdk_validates_templates(cloud: Connection) -> None:
    checked = cloud.orchestration.validate_template(TEMPLATE)
    assert checked.parameters["length"]["Default"] == 8
    with pytest.raises(openstack.exceptions.BadRequestException) as refused:
        cloud.orchestration.validate_template(TEMPLATE.replace("[text, value]", "[nowhere, value]"))
    assert "nowhere" in str(refused.value)


def test_heatclient_reads_all_of_a_stack(heat: Any) -> None:
    made = heat.stacks.create(
        stack_name="hc",
        template=yaml.safe_load(TEMPLATE),
        parameters={"length": 10},
        environment={"parameter_defaults": {"length": 11}},
        tags="t1,t2",
    )["stack"]
    await_end(heat, "hc", "CREATE_COMPLETE")
    stack = heat.stacks.get(made["id"])
    assert (stack.identifier, stack.tags) == (f"hc/{made['id']}", ["t1", "t2"])
    assert heat.stacks.output_show("hc", "text")["output"]["output_key"] == "text"
    assert [o["output_key"] for o in heat.stacks.output_list("hc")["outputs"]] == ["text"]
    assert {r.resource_name for r in heat.resources.list("hc")} == {"text", "value"}
    resource = heat.resources.get("hc", "text")
    assert resource.required_by == ["value"]
    assert resource.attributes["value"]
    event = heat.events.list("hc", resource_name="text", limit=1)[0]
    assert heat.events.get("hc", "text", event.id).resource_name == "text"
    assert heat.stacks.template("hc")["resources"]["text"]["type"] == "OS::Heat::RandomString"
    assert heat.stacks.environment("hc")["parameters"] == {"length": 10}
    assert [s.stack_name for s in heat.stacks.list(filters={"name": "hc"})] == ["hc"]
    changes = heat.stacks.preview_update(
        "hc", template=yaml.safe_load(TEMPLATE), parameters={"length": 12}
    )["resource_changes"]
    assert [entry["resource_name"] for entry in changes["replaced"]] == ["text"]
    heat.stacks.delete("hc")
    until(lambda: _gone(heat, "hc"), "the stack is deleted")


def _gone(heat: Any, name: str) -> bool:
    try:
        return bool(heat.stacks.get(name).stack_status == "DELETE_COMPLETE")
    except exc.HTTPNotFound:
        return True


def test_heatclient_raises_what_the_service_answers(heat: Any) -> None:
    with pytest.raises(exc.HTTPNotFound, match="nowhere"):
        heat.stacks.get("nowhere")
    heat.stacks.create(stack_name="twice", template=yaml.safe_load(TEMPLATE))
    with pytest.raises(exc.HTTPConflict, match="twice"):
        heat.stacks.create(stack_name="twice", template=yaml.safe_load(TEMPLATE))
    with pytest.raises(exc.HTTPBadRequest):
        heat.stacks.create(stack_name="9 lives", template=yaml.safe_load(TEMPLATE))
    with pytest.raises(exc.HTTPBadRequest, match="heat_template_version"):
        heat.stacks.validate(template={})
    heat.stacks.delete("twice")
    until(lambda: _gone(heat, "twice"), "the stack is deleted")


def test_heatclient_sees_failures_and_rollbacks(heat: Any) -> None:
    template = yaml.safe_load(FAILING)
    heat.stacks.create(stack_name="fails", template=template)
    await_end(heat, "fails", "CREATE_FAILED")
    stack = heat.stacks.get("fails")
    assert stack.stack_status_reason.startswith(
        "Resource CREATE failed: ValueError: resources.bad: "
    )
    heat.stacks.update("fails", template=yaml.safe_load(TEMPLATE))
    await_end(heat, "fails", "UPDATE_COMPLETE")
    text = heat.stacks.output_show("fails", "text")["output"]["output_value"]
    mixed = yaml.safe_load(TEMPLATE)
    mixed["resources"]["bad"] = template["resources"]["bad"]
    heat.stacks.update("fails", template=mixed, disable_rollback=False)
    until(lambda: heat.stacks.get("fails").stack_status.startswith("ROLLBACK_"), "it rolls back")
    await_end(heat, "fails", "ROLLBACK_COMPLETE")
    assert heat.stacks.output_show("fails", "text")["output"]["output_value"] == text
    heat.stacks.delete("fails")
    until(lambda: _gone(heat, "fails"), "the stack is deleted")


def test_stacks_rest_wake_and_are_checked(cloud: Connection, heat: Any) -> None:
    made = heat.stacks.create(stack_name="walked", template=TEMPLATE)["stack"]["id"]
    await_end(heat, "walked", "CREATE_COMPLETE")
    cloud.orchestration.suspend_stack(made)
    await_end(heat, "walked", "SUSPEND_COMPLETE")
    with pytest.raises(exc.HTTPBadRequest, match="when it is suspended is not supported"):
        heat.stacks.update(made, template=TEMPLATE)
    cloud.orchestration.resume_stack(made)
    await_end(heat, "walked", "RESUME_COMPLETE")
    heat.actions.check(made)
    await_end(heat, "walked", "CHECK_COMPLETE")
    told = heat.stacks.get(made).stack_status_reason
    assert told.endswith("'CHECK' not fully supported (see resources)")
    heat.stacks.delete(made)


def test_heatclient_collects_files_environments_and_nested_templates(
    heat: Any, tmp_path: Path
) -> None:
    inner = {**yaml.safe_load(TEMPLATE)}
    (tmp_path / "inner.yaml").write_text(yaml.safe_dump(inner))
    (tmp_path / "outer.yaml").write_text(
        "heat_template_version: 2018-08-31\nresources:\n  inner: {type: Own::Inner}\n"
        "outputs: {text: {value: {get_attr: [inner, text]}}}\n"
    )
    (tmp_path / "env.yaml").write_text(
        "resource_registry: {'Own::Inner': inner.yaml}\nparameter_defaults: {length: 13}\n"
    )
    files, template = template_utils.get_template_contents(str(tmp_path / "outer.yaml"))
    env_files, _ = template_utils.process_multiple_environments_and_files(
        [str(tmp_path / "env.yaml")], env_list_tracker=(tracker := [])
    )
    heat.stacks.create(
        stack_name="nested",
        template=template,
        files={**files, **env_files},
        environment_files=tracker,
    )
    await_end(heat, "nested", "CREATE_COMPLETE")
    assert len(heat.stacks.output_show("nested", "text")["output"]["output_value"]) == 13
    names = {r.resource_name for r in heat.resources.list("nested", nested_depth=2)}
    assert names == {"inner", "text", "value"}
    sent = heat.stacks.files("nested")
    assert any(name.endswith("inner.yaml") for name in sent)
    assert json.dumps(heat.stacks.environment("nested")["parameter_defaults"]) == '{"length": 13}'
    heat.stacks.delete("nested")
    until(lambda: _gone(heat, "nested"), "the stack is deleted")


def test_heatclient_lists_types_versions_and_functions(heat: Any) -> None:
    types = {entry.resource_type for entry in heat.resource_types.list()}
    assert "OS::Nova::Server" in types
    assert heat.resource_types.get("OS::Heat::Value")["properties"]["value"]["required"] is True
    assert heat.template_versions.list()
    assert heat.template_versions.get("heat_template_version.2018-08-31")
    assert set(heat.build_info.build_info()) >= {"api", "engine"}
