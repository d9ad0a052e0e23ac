"""Refactors, against a running service and its cloud."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Served

NET = "  net: {type: OS::Neutron::Net}\n"
SUBNET = (
    "  subnet: {type: OS::Neutron::Subnet,"
    " properties: {network: {get_resource: net}, cidr: 10.77.0.0/24}}\n"
)
HEAD = "heat_template_version: 2021-04-16\nresources:\n"


def _objects(service: Served, stack: str) -> dict[str, str]:
    """The ids of the objects of a stack and its nested stacks, by name."""
    found = json.loads(service.run("status", stack, "--json").output)
    return {each["name"]: each["physical_id"] for each in found["resources"]}


def test_resources_move_to_nested_and_other_stacks(service: Served, tmp_path: Path) -> None:
    one, other, inner = (tmp_path / f"{name}.yaml" for name in ("one", "other", "inner"))
    one.write_text(HEAD + NET + SUBNET)
    assert service.run("deploy", str(one)).exit_code == 0
    before = _objects(service, "one")

    one.write_text(HEAD + "  inner: {type: inner.yaml}\n")
    inner.write_text(HEAD + NET + SUBNET)
    refused = service.run("refactor", str(one), "--move", "/net=/inner/net", "--dry-run")
    assert refused.exit_code == 2
    assert (
        "inner.yaml:4:3: error: resources.subnet: inner/subnet would be created" in refused.output
    )
    assert "add the move one/subnet=one/inner/subnet" in refused.output
    moves = ("--move", "/net=/inner/net", "--move", "/subnet=/inner/subnet")
    shown = service.run("refactor", str(one), *moves, "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert (
        f"> one/net -> one/inner/net  OS::Neutron::Net\n    keeps {before['net']}" in shown.output
    )
    assert _objects(service, "one") == before
    assert service.run("refactor", str(one), *moves, "--yes").exit_code == 0
    after = _objects(service, "one")
    assert {name: after[name] for name in before} == before
    assert service.run("plan", str(one)).output == "one: nothing changes\n"

    one.write_text(HEAD + "  {}\n")
    other.write_text(
        f"""{HEAD}
  net:
    type: OS::Neutron::Net
    metadata: {{stoker: {{moved_from: one/inner/net}}}}
  subnet:
    type: OS::Neutron::Subnet
    metadata: {{stoker: {{moved_from: one/inner/subnet}}}}
    properties: {{network: {{get_resource: net}}, cidr: 10.77.0.0/24}}
"""
    )
    early = service.run("deploy", str(other))
    assert early.exit_code == 2
    assert "one/inner/net has not been moved here" in early.output
    done = service.run("refactor", str(one), str(other), "--yes", "--json")
    assert done.exit_code == 0, done.output
    effect = json.loads(done.output)
    assert [stack["stack_name"] for stack in effect["created_stacks"]] == ["other"]
    assert _objects(service, "other") == before
    assert service.run("plan", str(other)).output == "other: nothing changes\n"
    for stack in ("one", "other"):
        assert service.run("destroy", stack, "--yes").exit_code == 0


def test_parameters_are_for_new_stacks(service: Served, tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    file.write_text(HEAD + NET)
    assert service.run("deploy", str(file)).exit_code == 0
    refused = service.run("refactor", str(file), "--move", "/net=/net", "-P", "a=b")
    assert refused.exit_code == 2
    assert "-P is for new stacks" in refused.output
    assert service.run("destroy", "kept", "--yes").exit_code == 0
