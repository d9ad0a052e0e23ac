"""``stoker validate``: findings for people, programs and editors, without a service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLES, stoker

BAD = """heat_template_version: 2018-08-31
parameters:
  size: {type: numbr}
resources:
  a:
    type: OS::Heat::RandomStrin
"""


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)
    return path


@pytest.mark.parametrize("name", ["web-app.yaml", "failing-app.yaml"])
def test_the_examples_are_good(name: str) -> None:
    done = stoker("validate", str(EXAMPLES / name))
    assert (done.exit_code, done.output) == (0, f"{EXAMPLES / name}: good\n")


def test_findings_look_like_those_of_a_compiler(bad: Path) -> None:
    done = stoker("validate", str(bad))
    assert done.exit_code == 2
    assert f"{bad}:3:10: error: parameters.size.type:" in done.output
    assert (
        f"{bad}:6:5: error: resources.a.type: there is no resource type"
        ' "OS::Heat::RandomStrin" (did you mean "OS::Heat::RandomString"?)\n'
        "    6 |     type: OS::Heat::RandomStrin\n"
        "            ^\n"
    ) in done.output
    assert done.output.endswith("2 errors\n")


def test_json_has_every_finding_with_its_place(bad: Path) -> None:
    done = stoker("validate", "--format", "json", str(bad))
    found = json.loads(done.output)
    assert [(f["file"], f["line"], f["severity"]) for f in found] == [
        (str(bad), 3, "error"),
        (str(bad), 6, "error"),
    ]


def test_sarif_has_results_with_regions(bad: Path) -> None:
    run = json.loads(stoker("validate", "--format", "sarif", str(bad)).output)["runs"][0]
    assert run["tool"]["driver"]["name"] == "stoker"
    region = run["results"][1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 6, "startColumn": 5}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= {"unknown-type"}


def test_several_templates_are_checked_in_one_go(bad: Path) -> None:
    done = stoker("validate", str(EXAMPLES / "web-app.yaml"), str(bad))
    assert done.exit_code == 2


def test_a_missing_file_does_not_hide_other_findings(bad: Path) -> None:
    bad.write_text(BAD + "  b: {type: OS::Heat::Value, properties: {value: {get_file: nothing}}}\n")
    done = stoker("validate", str(bad))
    assert "there is no file" in done.output
    assert "there is no resource type" in done.output


def test_values_are_checked_where_they_are_given(tmp_path: Path) -> None:
    template = tmp_path / "sized.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "parameters: {size: {type: number, constraints: [{range: {max: 5}}]}}\n"
    )
    assert stoker("validate", str(template)).exit_code == 0
    assert stoker("validate", str(template), "-P", "size=4").exit_code == 0
    assert stoker("validate", str(template), "-P", "size=6").exit_code == 2


def test_findings_in_environments_name_the_environment(tmp_path: Path) -> None:
    template, environment = tmp_path / "main.yaml", tmp_path / "env.yaml"
    template.write_text("heat_template_version: 2018-08-31\n")
    environment.write_text("parameters: {}\nparamters: {}\n")
    done = stoker("validate", str(template), "-e", str(environment))
    assert done.exit_code == 2
    assert f"{environment}:2:1: error:" in done.output
    assert 'did you mean "parameters"?' in done.output


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    done = stoker("validate", str(tmp_path / "no.yaml"))
    assert done.exit_code == 2
    assert done.output == f'stoker: there is no file "{tmp_path}/no.yaml"\n'
