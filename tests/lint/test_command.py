"""``stoker lint``: arguments, formats and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.reports import FORMATS
from tests.cli.conftest import stoker

TEMPLATE = """heat_template_version: 2021-04-16
parameters:
  length: {type: number, default: 8}
resources:
  text: {type: OS::Heat::RandomString}
"""
BROKEN = TEMPLATE.replace("RandomString", "RandomStrin")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory with a template, an environment and other documents; it is the current."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "app.yaml").write_text(TEMPLATE)
    (tmp_path / "inner/app.env.yaml").write_text("parameters: {length: 0644}\n")
    (tmp_path / "inner/compose.yaml").write_text("services: {web: {image: a, ports: [22:22]}}\n")
    (tmp_path / "notes.yaml").write_text("- heat\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_directory_has_templates_and_environments_by_content(directory: Path) -> None:
    done = stoker("lint", "--json")
    found = [(each["file"], each["line"], each["code"]) for each in json.loads(done.output)]
    assert found == [
        ("app.yaml", 3, "unused-parameter"),
        ("inner/app.env.yaml", 1, "octal-number"),
    ]
    assert done.exit_code == 0


def test_text_names_rule_and_place(directory: Path) -> None:
    done = stoker("lint", "app.yaml")
    assert done.output.startswith(
        'app.yaml:3:3: warning: parameters.length: nothing uses the parameter "length"'
        " [unused-parameter]\n    3 |   length: {type: number, default: 8}\n"
    )
    assert done.output.endswith("1 warning\n")


def test_clean_document_is_ok(directory: Path) -> None:
    done = stoker("lint", "app.yaml", "--ignore", "unused-parameter", "--strict")
    assert (done.exit_code, done.output) == (0, "1 document: OK\n")


def test_strict_fails_for_warnings(directory: Path) -> None:
    assert stoker("lint", "app.yaml").exit_code == 0
    assert stoker("lint", "app.yaml", "--strict").exit_code == 2


def test_errors_of_validation_fail(directory: Path) -> None:
    (directory / "app.yaml").write_text(BROKEN)
    done = stoker("lint", "app.yaml")
    assert done.exit_code == 2
    assert "[unknown-type]" in done.output


@pytest.mark.parametrize(
    "text", ["a: [", "heat_template_version: 2021-04-16\nresources: [1]\n", ""]
)
def test_broken_document_is_reported(directory: Path, text: str) -> None:
    (directory / "app.yaml").write_text(text)
    assert stoker("lint", "app.yaml").exit_code == 2


def test_standard_input_is_linted(directory: Path) -> None:
    done = stoker("lint", "-", text=TEMPLATE)
    assert "<stdin>:3:3: warning:" in done.output


def test_environment_is_used_and_linted(directory: Path) -> None:
    (directory / "more.yaml").write_text(
        "parameters: {length: 9}\nparameter_defaults: {length: 1}\n"
    )
    done = stoker("lint", "app.yaml", "-e", "more.yaml", "--json")
    found = [(each["file"], each["code"]) for each in json.loads(done.output)]
    assert found == [("app.yaml", "unused-parameter"), ("more.yaml", "overridden-default")]


def test_type_of_environment_in_directory_is_known(directory: Path) -> None:
    (directory / "app.yaml").write_text(TEMPLATE.replace("OS::Heat::RandomString", "My::Text"))
    assert stoker("lint", "app.yaml").exit_code == 2
    (directory / "types.yaml").write_text('resource_registry: {"My::*": OS::Heat::RandomString}\n')
    assert stoker("lint", ".").exit_code == 0


def test_output_is_written_to_file(directory: Path) -> None:
    done = stoker("lint", "--format", "json", "--output", "found.json", "app.yaml")
    assert (done.exit_code, done.output) == (0, "")
    assert [each["line"] for each in json.loads((directory / "found.json").read_text())] == [3]


def test_sarif_describes_rules(directory: Path) -> None:
    done = stoker("lint", "--format", "sarif", "app.yaml")
    run = json.loads(done.output)["runs"][0]
    rule, result = run["tool"]["driver"]["rules"][0], run["results"][0]
    assert (rule["id"], rule["name"]) == ("unused-parameter", "UnusedParameter")
    assert rule["shortDescription"]["text"] == "Nothing uses a parameter."
    assert rule["defaultConfiguration"] == {"enabled": True, "level": "warning"}
    assert {"fullDescription", "help", "helpUri"} <= rule.keys()
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == (rule["id"], 0, "warning")
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (3, 3)


def test_fingerprint_does_not_depend_on_line(directory: Path) -> None:
    def fingerprint() -> str:
        done = stoker("lint", "--format", "sarif", "app.yaml")
        result = json.loads(done.output)["runs"][0]["results"][0]
        return str(result["partialFingerprints"]["stokerLint/v1"])

    before = fingerprint()
    (directory / "app.yaml").write_text(f"# more\n\n{TEMPLATE}")
    assert fingerprint() == before


def test_junit_has_failure_for_finding(directory: Path) -> None:
    suite = ET.fromstring(stoker("lint", "--format", "junit", "app.yaml").output)[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite[0].get("name") == "unused-parameter"
    assert "app.yaml:3" in str(suite[0][0].text)


def test_junit_of_clean_document_has_passed_test(directory: Path) -> None:
    done = stoker("lint", "--format", "junit", "app.yaml", "--ignore", "unused-parameter")
    suite = ET.fromstring(done.output)[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_github_annotates_lines(directory: Path) -> None:
    done = stoker("lint", "--format", "github", "app.yaml")
    assert done.output == (
        "::warning file=app.yaml,line=3,col=3,title=stoker lint%3A unused-parameter::"
        'parameters.length: nothing uses the parameter "length"\n'
    )


@pytest.mark.parametrize("form", FORMATS)
def test_control_characters_are_not_printed(directory: Path, form: str) -> None:
    text = TEMPLATE.replace("length:", '"len\\e[31mgth":')
    (directory / "app.yaml").write_text(text)
    assert "\x1b" not in stoker("lint", "--format", form, "app.yaml").output


def test_rules_are_listed_and_explained() -> None:
    listed = stoker("lint", "--list-rules").output
    assert all(f"  {name} " in listed for name in all_rules())
    done = stoker("lint", "--explain", "open-admin-port")
    assert "Options: ports (22, 3389, 5900, 5985, 5986)" in done.output
    assert "remote_ip_prefix: 0.0.0.0/0  # here" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--explain", "open-admin-prt"], 'did you mean "open-admin-port"?'),
        (["--rule", "securty"], 'did you mean "security"?'),
        (["missing.yaml"], 'there is no file "missing.yaml"'),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], message: str) -> None:
    done = stoker("lint", *arguments)
    assert done.exit_code == 2
    assert message in done.output
