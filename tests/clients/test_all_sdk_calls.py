"""Every call of openstacksdk's orchestration proxy and of its cloud layer about stacks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openstack
import pytest
from openstack.cloud._orchestration import OrchestrationCloudMixin
from openstack.connection import Connection
from openstack.orchestration.v1._proxy import Proxy
from openstack.orchestration.v1.stack import Stack

from tests.clients.test_libraries import FAILING, TEMPLATE
from tests.recovery.service import Service

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
NOBODY = "8ac9ad39-6f7b-4f4c-8a0e-0d3f6d6b4c55"  # a server that does not exist


class Calls:
    """Passes calls on, and remembers which there were."""

    def __init__(self, api: Any, declared: type) -> None:
        self._api = api
        self.left = {
            name
            for name, each in vars(declared).items()
            if inspect.isfunction(each) and not name.startswith("_")
        }

    def __getattr__(self, name: str) -> Any:
        self.left.discard(name)
        return getattr(self._api, name)


@pytest.fixture(scope="module")
def cloud(service: Service) -> Iterator[Connection]:
    connection = openstack.connection.Connection(
        region_name="RegionOne", auth=service.credentials("stoker"), identity_api_version="3"
    )
    yield connection
    connection.close()


def test_every_call_of_the_proxy_works(cloud: Connection, tmp_path: Path) -> None:
    api = Calls(cloud.orchestration, Proxy)
    ended = {"failures": ["FAILED"], "interval": 0.1, "wait": 30}

    def settled(stack: Any, status: str) -> Any:
        return api.wait_for_status(api.get_stack(stack.id), status, **ended)

    (tmp_path / "main.yaml").write_text(TEMPLATE)
    (tmp_path / "env.yaml").write_text("parameters: {length: 5}\n")
    template, environment = str(tmp_path / "main.yaml"), str(tmp_path / "env.yaml")
    read = api.read_env_and_templates(template_file=template, environment_files=[environment])
    assert read["environment"] == {"parameters": {"length": 5}}
    files, contents = api.get_template_contents(template_file=template)
    assert (files, contents["description"]) == ({}, "Texts.")
    assert api.validate_template(contents).description == "Texts."
    preview = api.create_stack(preview=True, name="all", template=contents)
    assert (preview.name, preview.description) == ("all", "Texts.")
    assert api.find_stack("all") is None
    stack = settled(api.create_stack(name="all", template=contents), "CREATE_COMPLETE")
    assert [each.name for each in api.stacks()] == ["all"]
    assert {each.resource_type for each in api.resources(stack)} == {
        "OS::Heat::RandomString",
        "OS::Heat::Value",
    }
    assert {each.resource_name for each in api.stack_events(stack)} == {"all", "text", "value"}
    assert api.get_stack_template(stack).description == "Texts."
    assert api.get_stack_environment(stack).parameters == {}
    assert api.get_stack_files(stack) == {}
    # update_stack(preview=True) of the library asks for the update itself: a fault of its own
    changed = Stack.new(name="all", id=stack.id, template=contents, parameters={"length": 9})
    changed.commit(cloud.orchestration, preview=True)
    assert api.get_stack(stack).status == "CREATE_COMPLETE"
    api.update_stack(stack, template=contents, parameters={"length": 9})
    assert len(settled(stack, "UPDATE_COMPLETE").outputs[0]["output_value"]) == 9
    for action, call in (
        ("SUSPEND", api.suspend_stack),
        ("RESUME", api.resume_stack),
        ("CHECK", api.check_stack),
    ):
        call(stack)
        settled(stack, f"{action}_COMPLETE")
    exported = api.export_stack(stack)
    assert exported["resources"].keys() == {"text", "value"}
    assert api.abandon_stack(stack)["id"] == stack.id
    api.wait_for_delete(stack, interval=0.1, wait=30)
    assert api.find_stack("all") is None

    config = api.create_software_config(name="c", group="script", config="#!/bin/sh\necho hello")
    assert config.id in {each.id for each in api.software_configs()}
    assert api.get_software_config(config.id).config == "#!/bin/sh\necho hello"
    made = api.create_software_deployment(
        config_id=config.id, server_id=NOBODY, action="CREATE", status="IN_PROGRESS"
    )
    assert [each.id for each in api.software_deployments(server_id=NOBODY)] == [made.id]
    api.update_software_deployment(made.id, status="COMPLETE", status_reason="done")
    found = api.get_software_deployment(made.id)
    assert (found.status, found.status_reason) == ("COMPLETE", "done")
    api.delete_software_deployment(made.id, ignore_missing=False)
    api.delete_software_config(config.id, ignore_missing=False)
    with pytest.raises(openstack.exceptions.NotFoundException):
        api.get_software_config(config.id)
    api.delete_stack(settled(api.create_stack(name="last", template=contents), "CREATE_COMPLETE"))
    assert api.left == set()


def test_every_call_of_the_cloud_layer_works(cloud: Connection, tmp_path: Path) -> None:
    api = Calls(cloud, OrchestrationCloudMixin)
    template = tmp_path / "main.yaml"
    template.write_text(TEMPLATE)
    (tmp_path / "bad.yaml").write_text(FAILING)
    _, contents = api.get_template_contents(template_file=str(template))
    assert contents["description"] == "Texts."
    made = api.create_stack("layer", template_file=str(template), wait=True, timeout=30, length=7)
    assert (made.status, len(made.outputs[0]["output_value"])) == ("CREATE_COMPLETE", 7)
    changed = api.update_stack(
        "layer", template_file=str(template), wait=True, timeout=30, length=8
    )
    assert (changed.status, len(changed.outputs[0]["output_value"])) == ("UPDATE_COMPLETE", 8)
    assert api.get_stack("layer").id == made.id
    assert "layer" in {stack.name for stack in api.list_stacks()}
    assert [stack.name for stack in api.search_stacks("layer")] == ["layer"]
    assert api.search_stacks("layer", {"status": "FAILED"}) == []
    bad = api.create_stack(
        "bad", template_file=str(tmp_path / "bad.yaml"), rollback=False, wait=True, timeout=30
    )
    assert bad.status == "CREATE_FAILED"
    assert api.delete_stack("bad", wait=True)
    assert api.delete_stack("layer", wait=True)
    assert not api.delete_stack("layer")
    assert api.left == set()
