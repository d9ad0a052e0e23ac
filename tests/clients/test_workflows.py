"""Workflows of stacks: started by signals and messages, with their effects in the cloud."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

from tests.clients.conftest import Shell
from tests.recovery.service import until

EXAMPLE = Path(__file__).parents[2] / "examples" / "snapshots.yaml"
MANAGED = """
heat_template_version: 2021-04-16
resources:
  flow:
    type: OS::Mistral::Workflow
    properties:
      type: direct
      input: {size: 0}
      output: {resource_id: 'made-of-<% $.size %>', size: <% $.size %>}
      tasks: [{name: t, action: std.noop}]
  thing:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: {get_resource: flow}}
        DELETE: {workflow: {get_resource: flow}}
      input: {size: 7}
  queue:
    type: OS::Zaqar::Queue
    properties: {name: asked}
  trigger:
    type: OS::Zaqar::MistralTrigger
    properties:
      queue_name: {get_resource: queue}
      workflow_id: {get_resource: flow}
      input: {size: 9}
outputs:
  flow: {value: {get_resource: flow}}
  thing: {value: {get_resource: thing}}
  size: {value: {get_attr: [thing, output, size]}}
"""


def output(shell: Shell, stack: str, name: str) -> Any:
    return shell.data(f"stack output show {stack} {name}")["output_value"]


def test_signals_make_snapshots_of_a_volume(shell: Shell) -> None:
    assert "CREATE_COMPLETE" in shell.run(f"stack create -t {EXAMPLE} --wait snapshots")
    volume = output(shell, "snapshots", "volume")
    shell.run("stack resource signal snapshots snapshot")
    address = output(shell, "snapshots", "make_snapshot")
    asked = urllib.request.Request(address, b'{"input": {"name": "now"}}', method="POST")
    asked.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(asked, timeout=30) as answer:
        assert answer.status == 200

    def snapshots() -> dict[str, str]:
        listed = shell.data(f"volume snapshot list --volume {volume}")
        return {each["Name"]: each["Status"] for each in listed}

    wanted = {"nightly": "available", "now": "available"}
    until(lambda: snapshots() == wanted, "the signals have made snapshots")

    def states() -> list[str]:
        return [each["state"] for each in output(shell, "snapshots", "executions")]

    until(lambda: states() == ["SUCCESS", "SUCCESS"], "the workflows have ended")
    events = shell.run("stack event list snapshots")
    assert events.count("SIGNAL_COMPLETE") == 2
    (trigger,) = shell.data("cron trigger list")
    assert trigger["Next execution time"] == output(shell, "snapshots", "next")
    for each in shell.data(f"volume snapshot list --volume {volume}"):
        shell.run(f"volume snapshot delete {each['ID']}")
    shell.run("stack delete --yes --wait snapshots")
    assert shell.data("cron trigger list")[0]["Name"] == ""
    assert shell.data("workflow execution list")[0]["ID"] == ""


def test_workflows_make_a_resource_and_run_for_messages(shell: Shell, tmp_path: Path) -> None:
    template = tmp_path / "managed.yaml"
    template.write_text(MANAGED)
    assert "CREATE_COMPLETE" in shell.run(f"stack create -t {template} --wait managed")
    assert output(shell, "managed", "thing") == "made-of-7"
    assert output(shell, "managed", "size") == 7
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"queue_name": "asked", "messages": [{"body": {"hello": 1}}]}))
    posted = json.loads(shell.run(f"action execution run zaqar.queue_post {given}"))
    assert len(posted["result"]["resources"]) == 1, posted
    flow = output(shell, "managed", "flow")

    def sizes() -> list[int]:
        found = []
        for each in shell.data("workflow execution list"):
            if each["Workflow name"] == flow and each["State"] == "SUCCESS":
                shown = json.loads(shell.run(f"workflow execution input show {each['ID']}"))
                found.append(shown["size"])
        return sorted(found)

    until(lambda: sizes() == [7, 9], "the message has begun a workflow")
    shell.run("stack delete --yes --wait managed")
