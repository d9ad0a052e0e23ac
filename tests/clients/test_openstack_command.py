"""The ``openstack`` command with python-heatclient, as its users know it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from cloud_testing.shell import Shell
from tests.clients.conftest import BIN, environment, openstack
from tests.recovery.service import Service, until

EXAMPLE = Path(__file__).parents[2] / "examples/web-app.yaml"

MAIN = """
heat_template_version: 2018-08-31
description: A stack with a part.
parameters:
  length: {type: number, default: 8, description: How long.}
  pin: {type: string, hidden: true, default: none}
resources:
  text:
    type: OS::Heat::RandomString
    properties: {length: {get_param: length}}
  part:
    type: part.yaml
    properties: {word: {get_attr: [text, value]}}
  alias:
    type: My::Value
    properties: {value: {get_attr: [part, said]}}
outputs:
  said: {value: {get_attr: [part, said]}, description: What the part says.}
"""
PART = """
heat_template_version: 2018-08-31
parameters:
  word: {type: string}
resources:
  said:
    type: OS::Heat::Value
    properties: {value: {str_replace: {template: "said: W", params: {W: {get_param: word}}}}}
outputs:
  said: {value: {get_attr: [said, value]}}
"""
ENVIRONMENT = """
parameters: {pin: "1234"}
parameter_defaults: {length: 12}
resource_registry: {"My::Value": "OS::Heat::Value"}
"""
WAITING = """
heat_template_version: 2018-08-31
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  ready:
    type: OS::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, timeout: 60}
outputs:
  data: {value: {get_attr: [ready, data]}}
"""
FAILING = """
heat_template_version: 2018-08-31
resources:
  fine: {type: OS::Heat::RandomString}
  bad:
    type: OS::Heat::TestResource
    properties: {fail: true, value: x}
    depends_on: fine
"""
UNRESOLVED = """
heat_template_version: 2018-08-31
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {get_resource: nowhere}}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with the templates of these tests."""
    texts = {"main": MAIN, "part": PART, "env": ENVIRONMENT, "waiting": WAITING, "bad": FAILING}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def physical_ids(shell: Shell, stack: str) -> dict[str, str]:
    found = shell.data(f"stack resource list {stack}")
    return {entry["resource_name"]: entry["physical_resource_id"] for entry in found}


def delete(shell: Shell, stack: str) -> None:
    """Delete a stack; returns when it is gone."""
    assert shell.run(f"stack delete -y {stack}").strip() == ""
    until(lambda: "Stack not found" in shell.run(f"stack show {stack}"), "the stack is deleted")


def page(service: Service, floating_ip: str) -> str:
    """Return the page of the application, or nothing while it does not answer."""
    found = service.cloud(f"/network/v2.0/floatingips/{floating_ip}")["floatingip"]
    for forwarding in found["stoker:forwardings"]:
        try:
            return httpx.get(f"http://{forwarding['host']}:{forwarding['port']}/", timeout=5).text
        except httpx.TransportError:
            return ""
    return ""


def test_the_web_application_is_deployed_changed_and_deleted(
    shell: Shell, service: Service
) -> None:
    printed = shell.run(f"stack create -t {EXAMPLE} --wait --poll 1 demo")
    assert "[demo.server]: CREATE_COMPLETE" in printed
    assert "| stack_status        | CREATE_COMPLETE" in printed
    first = physical_ids(shell, "demo")
    until(lambda: "Hello from Stoker" in page(service, first["floating_ip"]), "the page")
    name = shell.run("stack output show demo name -f value -c output_value").strip()
    assert "finished at" in shell.run(f"console log show {name}")

    printed = shell.run(f"stack update -t {EXAMPLE} --parameter title=Another --wait demo")
    assert "[demo.server]: UPDATE_COMPLETE" in printed
    assert "| stack_status        | UPDATE_COMPLETE" in printed
    second = physical_ids(shell, "demo")
    assert {name for name in first if first[name] != second[name]} == {"server"}
    until(lambda: "<h1>Another</h1>" in page(service, first["floating_ip"]), "the changed page")

    shell.run(f"stack update --existing -t {EXAMPLE} --parameter flavor=m1.tiny demo")
    until(lambda: "IN_PROGRESS" not in shell.run("stack show demo"), "the end of the update")
    assert shell.data("stack show demo")["stack_status"] == "UPDATE_COMPLETE"
    assert physical_ids(shell, "demo") == second
    assert "m1.tiny" in shell.run(f"server show {second['server']}")
    until(lambda: "<h1>Another</h1>" in page(service, first["floating_ip"]), "the page stays")

    printed = shell.run("stack delete --wait -y demo")
    assert "FAILED" not in printed
    assert "Stack not found: demo" in shell.run("stack show demo")
    assert shell.data("server list") == []


def test_stack_is_created_from_files_in_container(shell: Shell, files: Path) -> None:
    shell.run("container create parts")
    for name in ("part.yaml", "env.yaml"):
        shell.run(f"object create parts {files}/{name} --name {name}")
    printed = shell.run(
        f"stack create -t {files}/main.yaml -e env.yaml --files-container parts --wait kept"
    )
    assert "CREATE_COMPLETE" in printed, printed
    assert shell.data("stack show kept")["parameters"]["pin"] == "******"
    said = shell.run("stack output show kept said -f value -c output_value").strip()
    assert len(said) == len("said: ") + 12  # the length is that of the environment
    delete(shell, "kept")
    shell.run("container delete --recursive parts")
    printed = shell.run(f"stack create -t {files}/main.yaml --files-container parts kept")
    assert 'there is no container "parts"' in printed


def test_a_stack_of_files_is_created_and_shown(shell: Shell, files: Path) -> None:
    printed = shell.run(
        f"stack create -t {files}/main.yaml -e {files}/env.yaml --parameter length=10"
        " --tag one,two --timeout 5 --wait --poll 1 files"
    )
    assert "CREATE_COMPLETE" in printed
    shown = shell.data("stack show files")
    assert shown["stack_status"] == "CREATE_COMPLETE"
    assert shown["parameters"]["length"] == "10"
    assert shown["parameters"]["pin"] == "******"
    assert (shown["tags"], shown["timeout_mins"]) == (["one", "two"], 5)
    said = shell.run("stack output show files said -f value -c output_value").strip()
    assert said.startswith("said: ")
    assert len(said) == len("said: ") + 10
    outputs = shell.data("stack output show files --all")
    assert outputs["said"]["output_value"] == said
    assert [o["output_key"] for o in shell.data("stack output list files")] == ["said"]

    listed = {entry["Stack Name"]: entry for entry in shell.data("stack list")}
    assert listed["files"]["Stack Status"] == "CREATE_COMPLETE"
    assert shell.data("stack list --tags one,two --short")[0]["Stack Name"] == "files"
    assert shell.data("stack list --tags one,three") == []
    assert shell.data("stack list --property status=FAILED") == []
    nested = shell.data("stack list --nested")
    assert [e["Parent"] for e in nested if e["Stack Name"].startswith("files-part-")] == [
        shown["id"]
    ]

    resources = shell.data("stack resource list files -n 2")
    assert {r["resource_name"] for r in resources} == {"text", "part", "alias", "said"}
    resource = shell.data("stack resource show files part")
    assert resource["resource_type"] == f"file://{files}/part.yaml"
    assert resource["required_by"] == ["alias"]
    assert resource["attributes"]["said"] == said
    metadata = shell.run("stack resource metadata files text")
    assert metadata.strip() == "{}"

    events = shell.data("stack event list files --nested-depth 1")
    assert events[0]["resource_name"] == events[-1]["resource_name"] == "files"
    assert {"said", "part", "text", "alias"} <= {e["resource_name"] for e in events}
    event = next(e for e in events if e["resource_name"] == "text")
    one = shell.data(f"stack event show files text {event['id']}")
    assert one["resource_status"] == "CREATE_IN_PROGRESS"

    assert "get_attr" in shell.run("stack template show files")
    given = shell.run("stack environment show files")
    assert "pin: '******'" in given or "pin: '1234'" in given
    assert "part.yaml" in shell.run("stack file list files")
    delete(shell, "files")


def test_a_signal_completes_a_waiting_stack(shell: Shell, files: Path) -> None:
    shell.run(f"stack create -t {files}/waiting.yaml waiting")
    until(
        lambda: "CREATE_IN_PROGRESS" in shell.run("stack resource show waiting ready"), "it waits"
    )
    (files / "signal.json").write_text('{"id": "x", "data": "hello"}')
    printed = shell.run(f"stack resource signal waiting handle --data-file {files}/signal.json")
    assert printed.strip() == ""
    until(lambda: shell.data("stack show waiting")["stack_status"] == "CREATE_COMPLETE", "it ends")
    data = shell.run("stack output show waiting data -f value -c output_value")
    assert json.loads(data) == {"x": "hello"}
    delete(shell, "waiting")


def test_service_describes_itself(shell: Shell) -> None:
    types = [entry["Resource Type"] for entry in shell.data("orchestration resource type list")]
    assert {"OS::Nova::Server", "OS::Heat::RandomString"} <= set(types)
    found = shell.data("orchestration resource type list --filter name=OS::Neutron::Router")
    assert {"OS::Neutron::Router"} <= {entry["Resource Type"] for entry in found} < set(types)
    shown = shell.data("orchestration resource type show OS::Heat::RandomString")
    assert shown["properties"]["length"]["type"] == "integer"
    made = shell.run("orchestration resource type show OS::Heat::RandomString --template-type hot")
    assert "heat_template_version" in made
    versions = {entry["Version"] for entry in shell.data("orchestration template version list")}
    assert {"heat_template_version.2018-08-31", "AWSTemplateFormatVersion.2010-09-09"} <= versions
    functions = shell.data("orchestration template function list heat_template_version.2018-08-31")
    assert "get_attr" in {entry["Functions"] for entry in functions}
    checked = shell.data(f"orchestration template validate -t {EXAMPLE}")
    assert checked["Parameters"]["title"]["MaxLength"] == 80
    assert set(shell.data("orchestration build info")) == {"api", "engine"}


def test_failure_is_printed_and_sets_exit_code(shell: Shell, service: Service, files: Path) -> None:
    ended = openstack(
        service, "stack", "create", "--wait", "--poll", "1", "-t", f"{files}/bad.yaml", "bad"
    )
    assert ended.returncode == 1
    assert "CREATE_FAILED" in ended.stdout
    assert "Resource CREATE failed: ValueError: resources.bad: " in ended.stdout + ended.stderr
    failures = shell.run("stack failures list bad")
    assert "bad.bad:" in failures
    assert "status: CREATE_FAILED" in failures
    assert "fine" not in failures.replace("define", "")
    again = shell.run(f"stack create -t {files}/bad.yaml bad")
    assert again.strip().startswith("ERROR: ")
    assert "The Stack (bad) already exists" in again
    delete(shell, "bad")


@pytest.mark.parametrize(
    ("template", "word"),
    [
        (
            "heat_template_version: 2018-08-31\nresources: {a: {type: OS::No::Such}}\n",
            "OS::No::Such",
        ),
        ("heat_template_version: 2018-08-31\nresources: {a: {type: OS::Heat::Delay}, ", ""),
        ("heat_template_version: 1999-01-01\n", "1999-01-01"),
        (UNRESOLVED, "nowhere"),
    ],
    ids=["type", "yaml", "version", "reference"],
)
def test_a_bad_template_is_refused_with_a_reason(
    shell: Shell, tmp_path: Path, template: str, word: str
) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(template)
    printed = shell.run(f"stack create -t {path} refused")
    assert "Traceback" not in printed
    assert len(printed.strip().splitlines()) < 12
    assert word in printed
    assert "Stack not found: refused" in shell.run("stack show refused")


def test_events_are_followed_as_they_happen(shell: Shell, service: Service, files: Path) -> None:
    shell.run(f"stack create -t {files}/waiting.yaml followed")
    following = subprocess.Popen(
        [BIN / "openstack", "stack", "event", "list", "--follow", "followed"],
        env=environment(service, "stoker"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert following.stdout is not None
    try:
        for line in following.stdout:  # it ends with the tests' timeout, not on its own
            if "[followed.ready]: CREATE_IN_PROGRESS" in line:
                shell.run("stack resource signal followed handle")
            if "[followed]: CREATE_COMPLETE" in line:
                break
        else:
            raise AssertionError(f"the client has ended with {following.wait()}")
    finally:
        following.kill()
        following.communicate()
    delete(shell, "followed")


def test_stack_is_visible_to_owner_and_admin_only(
    shell: Shell, admin: Shell, service: Service, files: Path
) -> None:
    shell.run(f"stack create -t {files}/part.yaml --parameter word=w --wait --poll 1 mine")
    stack_id = shell.data("stack show mine")["id"]
    admin.run("project create other")
    admin.run("user create --project other --password secret eve")
    admin.run("role add --project other --user eve member")
    token, project = token_of(service, "eve", "secret", "other")
    _, owner = service.authenticate()

    def asked(project: str, path: str) -> int:
        url = f"{service.url}/v1/{project}/stacks{path}"
        return httpx.get(
            url, headers={"X-Auth-Token": token}, follow_redirects=True, timeout=20
        ).status_code

    assert asked(project, "/mine") == 404
    assert asked(project, f"/{stack_id}") in (403, 404)
    assert asked(project, f"/mine/{stack_id}") == 404
    assert asked(owner, f"/mine/{stack_id}") == 403
    assert asked(project, "") == 200
    assert "stacks:global_index" in admin.run("stack list --all-projects")
    assert admin.data(f"stack show {stack_id}")["stack_name"] == "mine"
    delete(shell, "mine")


def token_of(service: Service, user: str, password: str, project: str) -> tuple[str, str]:
    """A token and the id of its project."""
    domain: dict[str, Any] = {"id": "default"}
    account = {"name": user, "domain": domain, "password": password}
    body = {
        "auth": {
            "identity": {"methods": ["password"], "password": {"user": account}},
            "scope": {"project": {"name": project, "domain": domain}},
        }
    }
    answer = httpx.post(f"{service.cloud_url}/identity/v3/auth/tokens", json=body, timeout=20)
    answer.raise_for_status()
    return answer.headers["X-Subject-Token"], answer.json()["token"]["project"]["id"]
