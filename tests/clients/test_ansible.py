"""Ansible's ``openstack.cloud.stack`` and ``openstack.cloud.stack_info``, as playbooks use them."""

from __future__ import annotations

import json
import subprocess
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


def test_a_playbook_makes_changes_reads_and_deletes_a_stack(
    service: Service, tmp_path: Path
) -> None:
    # the collection asks newer ones for a module that they have no more
    programs = installed("ansible", "ansible", "openstacksdk>=4.0,<4.6")
    (tmp_path / "main.yaml").write_text(TEMPLATE)
    python = str(programs / "python")
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": python},
        "tasks": [
            {"name": name, f"openstack.cloud.{module}": {**given, "cloud": "stoker"}}
            for name, module, given in TASKS
        ],
    }
    (tmp_path / "play.yaml").write_text(json.dumps([play]))
    done = subprocess.run(
        [programs / "ansible-playbook", "-i", "localhost,", "-c", "local", "play.yaml"],
        cwd=tmp_path,
        env={
            **environment(service, "stoker"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
            "ANSIBLE_HOME": str(tmp_path / "ansible"),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    [played] = json.loads(done.stdout[done.stdout.index("{") :])["plays"]
    results: dict[str, Any] = {
        task["task"]["name"]: task["hosts"]["localhost"] for task in played["tasks"]
    }
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
