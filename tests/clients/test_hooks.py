"""Hooks with the ``openstack`` command: set, found and cleared as its users know it."""

from __future__ import annotations

from pathlib import Path

from tests.clients.conftest import Shell, openstack
from tests.recovery.service import Service, until

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  value: {type: string, default: one}
resources:
  first:
    type: OS::Heat::TestResource
    properties: {value: {get_param: value}}
  part:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def: {type: OS::Heat::TestResource, properties: {value: fixed}}
"""


def hooked(shell: Shell, options: str = "") -> list[tuple[str, str]]:
    command = f"stack hook poll hooked {options}"
    if "list index out of range" in shell.run(command):
        return []  # heatclient's way to say that there are none
    found = shell.data(command)
    return [(entry["Resource Name"], entry["Resource Status Reason"]) for entry in found]


def test_hooks_are_set_found_and_cleared(shell: Shell, service: Service, tmp_path: Path) -> None:
    template = tmp_path / "hooked.yaml"
    template.write_text(TEMPLATE)
    printed = shell.run(f"stack create -t {template} --pre-create first --pre-create part/0 hooked")
    assert "CREATE_IN_PROGRESS" in printed
    paused = "CREATE paused until Hook pre-create is cleared"
    until(lambda: hooked(shell) == [("first", paused)], "the first stands at its hook")
    until(
        lambda: ("0", paused) in hooked(shell, "--nested-depth 2"), "the member stands at its hook"
    )
    states = {
        entry["resource_name"]: entry["resource_status"]
        for entry in shell.data("stack resource list hooked -n 2")
    }
    assert states == {
        "first": "INIT_COMPLETE",
        "part": "CREATE_IN_PROGRESS",
        "0": "INIT_COMPLETE",
    }
    refused = shell.run("stack hook clear --pre-update hooked first")
    assert "first does not stand at the hook pre-update" in refused

    assert shell.run("stack hook clear hooked first").strip() == ""
    assert shell.run("stack hook clear hooked part/*").strip() == ""
    until(lambda: shell.data("stack show hooked")["stack_status"] == "CREATE_COMPLETE", "it ends")
    assert "Hook pre-create is cleared" in shell.run("stack event list hooked")

    shell.run(f"stack update -t {template} --pre-update first --parameter value=two hooked")
    paused = "UPDATE paused until Hook pre-update is cleared"
    until(lambda: hooked(shell) == [("first", paused)], "the update stands at its hook")
    service.kill()
    service.start()
    assert hooked(shell) == [("first", paused)]
    shell.run("stack hook clear --pre-update hooked first")
    until(lambda: shell.data("stack show hooked")["stack_status"] == "UPDATE_COMPLETE", "it ends")

    environment = tmp_path / "hooks.yaml"
    environment.write_text(
        "resource_registry: {resources: {'fir*': {hooks: [pre-delete, post-delete]}}}"
    )
    shell.run(f"stack update -t {template} -e {environment} --parameter value=two hooked")
    until(lambda: shell.data("stack show hooked")["stack_status"] == "UPDATE_COMPLETE", "it ends")
    shell.run("stack delete -y hooked")
    paused = "DELETE paused until Hook pre-delete is cleared"
    until(lambda: hooked(shell) == [("first", paused)], "the delete stands at its hook")
    shell.run("stack hook clear hooked first")
    until(lambda: "until Hook post-delete" in shell.run("stack event list hooked"), "the next")
    details = '{"unset_hook": "post-delete"}'
    ended = openstack(service, "stack", "resource", "signal", "--data", details, "hooked", "first")
    assert (ended.returncode, ended.stdout) == (0, "")
    until(lambda: "Stack not found: hooked" in shell.run("stack show hooked"), "it is gone")
