"""Ansible's modules for stacks, those for OpenStack and those for AWS, as playbooks use them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import environment
from tests.clients.programs import installed
from tests.clients.test_libraries import TEMPLATE
from tests.recovery.service import Service

pytestmark = pytest.mark.long

STACK = {"name": "played", "template": "main.yaml", "timeout": 60}
TASKS = (
    ("create", "stack", {**STACK, "parameters": {"length": 6}, "tag": "one,two"}),
    ("ask", "stack_info", {"name": "played"}),
    ("update", "stack", {**STACK, "parameters": {"length": 9}, "tag": "one,two"}),
    ("delete", "stack", {"name": "played", "state": "absent"}),
    ("delete again", "stack", {"name": "played", "state": "absent"}),
    ("ask again", "stack_info", {"name": "played"}),
)
AWS_STACK = {
    "stack_name": "for-aws",
    "template_body": json.dumps(
        {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Parameters": {"Text": {"Type": "String"}},
            "Resources": {
                "One": {"Type": "OS::Heat::TestResource", "Properties": {"value": {"Ref": "Text"}}}
            },
            "Outputs": {"Text": {"Value": {"Fn::GetAtt": ["One", "output"]}}},
        }
    ),
    "tags": {"team": "blue"},
    "on_create_failure": "DELETE",
}
FAILING = {**json.loads(str(AWS_STACK["template_body"])), "Outputs": {}}
FAILING["Resources"]["One"]["Properties"]["fail"] = True
AWS_TASKS = (
    ("create", "cloudformation", {**AWS_STACK, "template_parameters": {"Text": "a"}}),
    ("ask", "cloudformation_info", {"stack_name": "for-aws", "all_facts": True}),
    ("update", "cloudformation", {**AWS_STACK, "template_parameters": {"Text": "b"}}),
    (
        "propose",
        "cloudformation",
        {**AWS_STACK, "template_parameters": {"Text": "c"}, "create_changeset": True},
    ),
    ("delete", "cloudformation", {"stack_name": "for-aws", "state": "absent"}),
    ("delete again", "cloudformation", {"stack_name": "for-aws", "state": "absent"}),
    (
        "fail",
        "cloudformation",
        {
            **AWS_STACK,
            "stack_name": "bad",
            "template_body": json.dumps(FAILING),
            "template_parameters": {"Text": "a"},
        },
    ),
)


def _played(
    service: Service, place: Path, tasks: Sequence[tuple[str, str, dict[str, Any]]]
) -> dict[str, Any]:
    """Return the result of each task of a playbook, by its name."""
    # the collection for OpenStack asks newer ones for a module that they have no more
    programs = installed("ansible", "ansible", "openstacksdk>=4.0,<4.6", "boto3")
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": str(programs / "python")},
        "tasks": [
            {"name": name, module: given, "ignore_errors": name == "fail"}
            for name, module, given in tasks
        ],
    }
    (place / "play.yaml").write_text(json.dumps([play]))
    done = subprocess.run(
        [programs / "ansible-playbook", "-i", "localhost,", "-c", "local", "play.yaml"],
        cwd=place,
        env={
            **environment(service, "stoker"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
            "ANSIBLE_HOME": str(place / "ansible"),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    [played] = json.loads(done.stdout[done.stdout.index("{") :])["plays"]
    return {task["task"]["name"]: task["hosts"]["localhost"] for task in played["tasks"]}


def test_playbook_manages_a_stack(service: Service, tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text(TEMPLATE)
    tasks = [
        (name, f"openstack.cloud.{module}", {**given, "cloud": "stoker"})
        for name, module, given in TASKS
    ]
    results = _played(service, tmp_path, tasks)
    changed = {name: results[name]["changed"] for name in results}
    assert changed == {
        "create": True,
        "ask": False,
        "update": True,
        "delete": True,
        "delete again": False,
        "ask again": False,
    }
    created = results["create"]["stack"]
    assert (created["status"], created["tags"]) == ("CREATE_COMPLETE", ["one", "two"])
    assert len(created["outputs"][0]["output_value"]) == 6
    [asked] = results["ask"]["stacks"]
    assert (asked["id"], asked["parameters"]["length"]) == (created["id"], "6")
    updated = results["update"]["stack"]
    assert (updated["id"], updated["status"]) == (created["id"], "UPDATE_COMPLETE")
    assert len(updated["outputs"][0]["output_value"]) == 9
    assert results["ask again"]["stacks"] == []


def test_playbook_for_aws_manages_a_stack(
    service: Service, tmp_path: Path, keys: dict[str, str]
) -> None:
    access = {
        "endpoint_url": keys["endpoint_url"],
        "access_key": keys["aws_access_key_id"],
        "secret_key": keys["aws_secret_access_key"],
        "region": keys["region_name"],
    }
    tasks = [
        (name, f"amazon.aws.{module}", {**given, **access}) for name, module, given in AWS_TASKS
    ]
    results = _played(service, tmp_path, tasks)
    changed = {name: results[name]["changed"] for name in results}
    assert changed == {
        "create": True,
        "ask": False,
        "update": True,
        "propose": True,
        "delete": True,
        "delete again": False,
        "fail": True,
    }
    assert results["create"]["stack_outputs"] == {"Text": "a"}
    asked = results["ask"]["cloudformation"]["for-aws"]
    assert asked["stack_tags"] == {"team": "blue"}
    assert asked["stack_description"]["stack_status"] == "CREATE_COMPLETE"
    assert results["update"]["stack_outputs"] == {"Text": "b"}
    assert results["propose"]["stack_outputs"] == {"Text": "b"}
    assert results["delete"]["output"] == "Stack Deleted"
    assert results["fail"]["output"] == "Stack create failed. Delete complete."
    assert any("Test Resource failed" in line for line in results["fail"]["log"])
