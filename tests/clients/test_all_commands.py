"""Every command of python-heatclient for ``openstack``, one table after the other."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from cloud_testing.shell import Shell
from tests.clients.steps import Walk, step, used

MAIN = """
heat_template_version: 2018-08-31
description: A text.
parameters:
  length: {type: number, default: 8}
resources:
  text:
    type: OS::Heat::RandomString
    properties: {length: {get_param: length}}
outputs:
  text: {value: {get_attr: [text, value]}, description: The text.}
"""
WAITING = """
heat_template_version: 2018-08-31
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  ready:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, timeout: 60}
"""
FAILING = """
heat_template_version: 2018-08-31
resources:
  bad: {type: "OS::Heat::TestResource", properties: {fail: true, value: x}}
"""
HOOKS = "resource_registry: {resources: {text: {hooks: pre-create}}}\n"
NOBODY = "5eb7e7a6-1d5c-4d0b-9b1c-0a3c6b9d1a11"  # a server that does not exist

TYPES = (
    step("orchestration build info", "api", "engine", "revision"),
    step("orchestration resource type list", "OS::Heat::RandomString", "OS::Nova::Server"),
    step("orchestration resource type show OS::Heat::RandomString", "length", "attributes"),
    step("orchestration template version list", "heat_template_version.2021-04-16", "hot"),
    step(
        "orchestration template function list heat_template_version.2018-08-31",
        "get_attr",
        "str_replace",
    ),
    step("orchestration template validate -t {files}/main.yaml", "length", "Default"),
    step("orchestration template validate -t {files}/waiting.yaml --show-nested", "Parameters"),
)
LIFE = (
    step("stack create -t {files}/main.yaml --dry-run one", "stack_name", "one", "text"),
    step("stack create -t {files}/main.yaml --wait one", "one.text", "CREATE_COMPLETE"),
    step("stack list -f value -c 'Stack Name'", "one"),
    step("stack show one -f value -c stack_status", "CREATE_COMPLETE"),
    step("stack output list one", "text", "The text."),
    step("stack output show one text", "output_value", "The text."),
    step("stack template show one", "OS::Heat::RandomString"),
    step("stack environment show one", "parameters"),
    step("stack file list one", "{}"),
    step("stack resource list one", "OS::Heat::RandomString", "CREATE_COMPLETE"),
    step("stack resource show one text -f value -c resource_type", "OS::Heat::RandomString"),
    step("stack resource metadata one text", "{}"),
    step(
        "stack event list one -f value -c id --filter resource_name=text --limit 1", keeps="event"
    ),
    step("stack event show one text {event} -f value -c resource_name", "text"),
    step("stack update -t {files}/main.yaml --parameter length=9 --dry-run one", "replaced"),
    step("stack snapshot create one --name before -f value -c id", keeps="snapshot"),
    step("stack snapshot list one", "{snapshot}", "before"),
    step("stack snapshot show one {snapshot}", "{snapshot}", "COMPLETE", waits=True),
    step("stack update -t {files}/main.yaml --parameter length=9 --wait one", "UPDATE_COMPLETE"),
    step("stack snapshot restore one {snapshot}"),
    step("stack show one -f value -c stack_status", "RESTORE_COMPLETE", waits=True),
    step("stack show one -f value -c parameters", "'length': '8'"),
    step("stack snapshot delete -y one {snapshot}"),
    step("stack suspend --wait one", "SUSPEND_COMPLETE"),
    step("stack resume --wait one", "RESUME_COMPLETE"),
    step("stack check --wait one", "CHECK_COMPLETE"),
    step("stack resource mark unhealthy one text because"),
    step("stack resource show one text -f value -c resource_status", "CHECK_FAILED"),
    step("stack resource mark unhealthy --reset one text"),
    step("stack resource show one text -f value -c resource_status", "CHECK_COMPLETE"),
    step("stack output show one text -f value -c output_value", keeps="text"),
    step("stack export one --output-file {files}/export.json"),
    step("stack abandon one --output-file {files}/abandoned.json"),
    step("stack show one", "Stack not found: one", waits=True),
    step("stack adopt --adopt-file {files}/abandoned.json --wait again", "ADOPT_COMPLETE"),
    step("stack output show again text -f value -c output_value", "{text}"),
    step("stack delete --wait -y again", keeps="said"),
    step("stack show again", "Stack not found: again"),
)
TROUBLE = (
    step("stack create -t {files}/waiting.yaml wait", "CREATE_"),
    step("stack resource show wait ready -f value -c resource_status", "IN_PROGRESS", waits=True),
    step("stack resource signal wait handle --data-file {files}/signal.json"),
    step("stack show wait -f value -c stack_status", "CREATE_COMPLETE", waits=True),
    step("stack create -t {files}/waiting.yaml stopped", "CREATE_"),
    step("stack resource show stopped ready -f value -c resource_status", "IN_PROG", waits=True),
    step("stack cancel --no-rollback stopped", "stopped"),
    step("stack show stopped -f value -c stack_status", "CREATE_FAILED", waits=True),
    step("stack create -t {files}/bad.yaml bad", "stack_status"),
    step("stack show bad -f value -c stack_status", "CREATE_FAILED", waits=True),
    step("stack failures list bad", "bad.bad:", "status: CREATE_FAILED"),
    step("stack create -t {files}/main.yaml -e {files}/hooks.yaml hooked", "CREATE_"),
    step("stack hook poll hooked", "text", waits=True),
    step("stack hook clear hooked --pre-create text"),
    step("stack show hooked -f value -c stack_status", "CREATE_COMPLETE", waits=True),
    step("stack delete --wait -y wait stopped bad hooked", keeps="said"),
)
SOFTWARE = (
    step("software config create --group script --config-file {files}/greet.sh greet", "hello"),
    step("software config list -f value -c id", keeps="config"),
    step("software config list", "{config}", "greet", "script"),
    step("software config show {config} --config-only", "echo hello"),
    step("software deployment create --config {config} --server {nobody} --action UPDATE"
         " --signal-transport NO_SIGNAL greeting", "{nobody}", "UPDATE"),
    step("software deployment list -f value -c id", keeps="deployment"),
    step("software deployment list", "{deployment}", "{nobody}"),
    step("software deployment show {deployment} -f value -c status", "IN_PROGRESS"),
    step("software deployment metadata show {nobody}", "greet", "echo hello"),
    step("software deployment output show {deployment} --all"),
    step("software deployment delete {deployment}"),
    step("software deployment show {deployment}", "not found"),
    step("software config delete {config}"),
    step("software config show {config}", "not found"),
)  # fmt: skip
OF_ADMINISTRATORS = (step("orchestration service list", "heat-engine", "up"),)
TABLES = {"types": TYPES, "life": LIFE, "trouble": TROUBLE, "software": SOFTWARE}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with the files of these commands."""
    texts = {"main": MAIN, "waiting": WAITING, "bad": FAILING, "hooks": HOOKS}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "signal.json").write_text('{"id": "1"}')
    (tmp_path / "greet.sh").write_text("#!/bin/sh\necho hello\n")
    return tmp_path


@pytest.mark.parametrize("name", TABLES)
def test_the_commands_do_and_say_what_users_know(shell: Shell, files: Path, name: str) -> None:
    Walk(shell.run, {"files": str(files), "nobody": NOBODY}).through(TABLES[name])


def test_administrators_see_the_engines(admin: Shell, shell: Shell) -> None:
    Walk(admin.run).through(OF_ADMINISTRATORS)
    assert "service:index" in shell.run("orchestration service list")


def test_every_command_of_the_client_has_a_step() -> None:
    found = entry_points(group="openstack.orchestration.v1")
    names = [entry.name.replace("_", " ") for entry in found]
    assert len(names) > 45
    assert set(names) - used([*TABLES.values(), OF_ADMINISTRATORS], names) == set()
