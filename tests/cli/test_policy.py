"""Policy files: possible rules, and errors in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from stoker.api.rest.routes import ROUTES
from stoker.identity.rules import DEFAULTS
from tests.cli.conftest import stoker


def run(*arguments: str) -> Result:
    return stoker("policy", *arguments)


def file(tmp_path: Path, rules: object) -> str:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(rules))
    return str(path)


def test_sample_is_inert_and_has_defaults_when_uncommented() -> None:
    printed = run("sample").output
    assert yaml.safe_load(printed) is None
    lines = [line[1:] for line in printed.splitlines() if line.startswith('#"')]
    assert yaml.safe_load("\n".join(lines)) == {rule.name: rule.check for rule in DEFAULTS}


def test_sample_names_requests_of_each_rule() -> None:
    before = run("sample").output.partition('#"stacks:create"')[0].splitlines()[-4:]
    assert before[:3] == [
        "# Start creating a stack.",
        "# POST  /v1/{project_id}/stacks",
        "# POST  /v1/{project_id}/stack_refactors",
    ]


def test_every_rule_of_an_address_has_a_default() -> None:
    names = {rule.name for rule in DEFAULTS}
    assert {name for route in ROUTES for name in route.rules} <= names


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"stacks:idnex": "role:a"}, 'nothing asks for this rule; did you mean "stacks:index"?'),
        ({"stacks:show": "rule:nope"}, 'there is no rule "nope"'),
        ({"stacks:show": "role:a or or"}, "cannot be read, and so lets nobody through"),
        (["stacks:show"], "is not a map of rules"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, rules: object, said: str) -> None:
    result = run("check", file(tmp_path, rules))
    assert result.exit_code in (1, 2)
    assert said in result.output


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"stacks:show": "!", "stacks:index": "@", "stacks:create": ""},
        {"mine": "role:z", "stacks:show": "rule:mine or rule:project_admin"},
        {"resource_types:OS::Any::Type": "role:z"},
    ],
)
def test_a_good_file_has_nothing_wrong(tmp_path: Path, rules: object) -> None:
    result = run("check", file(tmp_path, rules))
    assert result.exit_code == 0, result.output
    assert "nothing is wrong" in result.output


def test_policy_check_prints_json(tmp_path: Path) -> None:
    good = run("check", file(tmp_path, {"stacks:show": "!"}), "--role", "reader", "--json")
    assert "stacks:index" in json.loads(good.stdout)["allowed"]
    bad = run("check", file(tmp_path, {"stacks:idnex": "!"}), "--json")
    assert (bad.exit_code, len(json.loads(bad.stdout)["findings"])) == (1, 1)


def test_check_lists_permissions_of_a_role(tmp_path: Path) -> None:
    rules = {"stacks:show": "role:auditor"}
    allowed = run("check", file(tmp_path, rules), "--role", "auditor").output.split()
    assert allowed == ["stacks:show", "resource_types:OS::default"]
    member = run("check", file(tmp_path, rules), "--role", "member").output.split()
    assert "stacks:create" in member
    assert "stacks:show" not in member
