"""Stacks that go from hand to hand, marks on members of groups, and cancels, as users type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.conftest import Shell
from tests.recovery.service import until

GROUP = """
heat_template_version: 2018-08-31
parameters: {length: {type: number, default: 12}}
resources:
  secret: {type: "OS::Heat::RandomString", properties: {length: {get_param: length}}}
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: "OS::Neutron::SecurityGroup"}}
outputs:
  secret: {value: {get_attr: [secret, value]}}
  members: {value: {get_attr: [group, refs]}}
"""
SLOW = """
heat_template_version: 2018-08-31
resources:
  slow: {type: "OS::Heat::TestResource", properties: {wait_secs: 20}}
  later: {type: "OS::Heat::TestResource", depends_on: slow}
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "group.yaml"
    path.write_text(GROUP)
    return path


def outputs(shell: Shell, stack: str) -> dict[str, object]:
    shown = shell.data(f"stack show {stack}")["outputs"]
    return {output["output_key"]: output["output_value"] for output in shown}


def test_a_stack_is_exported_abandoned_and_adopted(shell: Shell, template: Path) -> None:
    exported, document = template.with_name("exported.json"), template.with_name("given.json")
    shell.run(f"stack create -t {template} --parameter length=20 --wait given")
    before = outputs(shell, "given")
    assert len(str(before["secret"])) == 20
    shell.run(f"stack export given --output-file {exported}")
    shell.run(f"stack abandon given --output-file {document}")
    assert json.loads(exported.read_text()) == json.loads(document.read_text())
    until(lambda: "Stack not found" in shell.run("stack show given"), "the stack is gone")
    printed = shell.run(f"stack adopt --adopt-file {document} --wait taken")
    assert "ADOPT_COMPLETE" in printed
    assert outputs(shell, "taken") == before
    shell.run("stack delete taken --yes --wait")
    left = {group["ID"] for group in shell.data("security group list")}
    assert not left & set(before["members"])  # type: ignore[call-overload]


@pytest.mark.long
def test_a_marked_member_of_a_group_is_replaced(shell: Shell, template: Path) -> None:
    shell.run(f"stack create -t {template} --wait marked")
    [group] = [r for r in shell.data("stack resource list marked") if r["resource_name"] == "group"]
    nested, before = group["physical_resource_id"], outputs(shell, "marked")
    for options in ("", "--reset "):
        printed = shell.run(f"stack resource mark unhealthy {options}{nested} 0 broken")
        assert not printed.strip()
    shell.run(f"stack resource mark unhealthy {nested} 1 broken")
    states = {
        r["resource_name"]: r["resource_status"]
        for r in shell.data(f"stack resource list {nested}")
    }
    assert states == {"0": "CHECK_COMPLETE", "1": "CHECK_FAILED"}
    shell.run("stack update --existing --wait marked")
    after = outputs(shell, "marked")
    assert after["members"][0] == before["members"][0]  # type: ignore[index]
    assert after["members"][1] != before["members"][1]  # type: ignore[index]
    shell.run("stack delete marked --yes --wait")


@pytest.mark.long
def test_a_create_is_cancelled(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "slow.yaml"
    path.write_text(SLOW)
    shell.run(f"stack create -t {path} slow")
    assert "not in cancelable state" in shell.run("stack cancel slow")
    shell.run("stack cancel slow --no-rollback")
    until(
        lambda: shell.data("stack show slow")["stack_status"] == "CREATE_FAILED", "it is cancelled"
    )
    assert shell.data("stack show slow")["stack_status_reason"] == "Stack CREATE cancelled"
    states = {
        entry["resource_name"]: entry["resource_status"]
        for entry in shell.data("stack resource list slow")
    }
    assert states == {"slow": "CREATE_IN_PROGRESS", "later": "INIT_COMPLETE"}
    assert "not in cancelable state" in shell.run("stack cancel slow --no-rollback")
    shell.run("stack delete slow --yes --wait")
