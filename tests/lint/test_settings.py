"""Settings of lint in directories, and comments that ignore findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from stoker.cli.authoring.lint.files import lint_files
from stoker.cli.authoring.lint.rule import Level
from stoker.cli.authoring.lint.settings import SettingsFiles
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import Finding

TEMPLATE = """heat_template_version: 2021-04-16
parameters:
  length: {type: number, default: 8}
resources:
  access:
    type: OS::Neutron::SecurityGroupRule
    properties:
      security_group: web
      port_range_min: 22
      port_range_max: 22
      remote_ip_prefix: 0.0.0.0/0
"""
FOUND = {"open-admin-port", "unused-parameter"}
UNDESCRIBED = {"template-without-description", "parameter-without-description"}


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def found(path: Path, files: SettingsFiles | None = None) -> list[Finding]:
    return lint_files([path], (), files or SettingsFiles()).found


def codes(path: Path, files: SettingsFiles | None = None) -> set[str]:
    return {each.code for each in found(path, files)}


def test_without_settings_rules_of_default_level_run(tmp_path: Path) -> None:
    assert codes(write(tmp_path, "app.yaml", TEMPLATE)) == FOUND


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            "level: strict",
            FOUND | {"template-without-description", "parameter-without-description"},
        ),
        ("rules: {unused-parameter: off}", {"open-admin-port"}),
        ("groups: {security: off}", {"unused-parameter"}),
        ("groups: {security: off}\nrules: {open-admin-port: on}", FOUND),
        ("rules: {template-without-description: on}", FOUND | {"template-without-description"}),
        ("rules: {open-admin-port: {ports: [3389]}}", {"unused-parameter"}),
        ("exclude: ['*.yaml']", set()),
        ("exclude: ['vendor/**']", FOUND),
        ("overrides: [{files: [app.yaml], rules: {unused-parameter: off}}]", {"open-admin-port"}),
        ("overrides: [{files: [other.yaml], groups: {security: off}}]", FOUND),
    ],
)
def test_settings_switch_rules(tmp_path: Path, settings: str, expected: set[str]) -> None:
    write(tmp_path, ".stokerlint.yaml", settings)
    assert codes(write(tmp_path, "app.yaml", TEMPLATE)) == expected


def test_settings_change_severities(tmp_path: Path) -> None:
    text = "groups: {security: error}\nrules: {unused-parameter: info}\n"
    write(tmp_path, ".stokerlint.yaml", text)
    path = write(tmp_path, "app.yaml", TEMPLATE)
    severities = {each.code: each.severity for each in found(path)}
    assert severities == {"open-admin-port": "error", "unused-parameter": "info"}


def test_severity_of_validation_is_changed(tmp_path: Path) -> None:
    write(tmp_path, ".stokerlint.yaml", "rules: {unknown-type: warning}")
    text = "heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Nova::Sever}\n"
    assert [each.severity for each in found(write(tmp_path, "app.yaml", text))] == ["warning"]


def test_nearer_settings_have_precedence(tmp_path: Path) -> None:
    write(tmp_path, ".stokerlint.yaml", "rules: {unused-parameter: off, open-admin-port: off}")
    write(tmp_path, "inner/.stokerlint.yaml", "rules: {unused-parameter: on}")
    assert codes(write(tmp_path, "inner/app.yaml", TEMPLATE)) == {"unused-parameter"}


def test_root_ends_search_for_settings(tmp_path: Path) -> None:
    write(tmp_path, ".stokerlint.yaml", "rules: {unused-parameter: off}")
    write(tmp_path, "inner/.stokerlint.yaml", "root: true")
    assert codes(write(tmp_path, "inner/app.yaml", TEMPLATE)) == FOUND


def test_options_of_command_have_precedence(tmp_path: Path) -> None:
    write(tmp_path, ".stokerlint.yaml", "level: all")
    path = write(tmp_path, "app.yaml", TEMPLATE)
    assert codes(path, SettingsFiles(Level.DEFAULT)) == FOUND
    assert codes(path, SettingsFiles(only=["unused-parameter"])) == {"unused-parameter"}
    assert codes(path, SettingsFiles(only=["security"])) >= {"open-admin-port"}
    assert "open-admin-port" not in codes(path, SettingsFiles(ignored=["security"]))


def test_named_file_replaces_those_of_directories(tmp_path: Path) -> None:
    write(tmp_path, ".stokerlint.yaml", "rules: {unused-parameter: off}")
    config = write(tmp_path, "other.yaml", "rules: {open-admin-port: off}")
    path = write(tmp_path, "app.yaml", TEMPLATE)
    assert codes(path, SettingsFiles(config=config)) == {"unused-parameter"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[]", "must be a map"),
        ("levels: strict", 'no setting "levels"; did you mean "level"?'),
        ("level: high", "must be one of default, strict, all"),
        ("rules: {unused-paramter: off}", 'did you mean "unused-parameter"?'),
        ("rules: {unused-parameter: maybe}", "must be one of on, off"),
        ("rules: {open-admin-port: {port: [1]}}", 'did you mean "ports"?'),
        ("rules: {open-admin-port: {ports: 22}}", "must be a list"),
        ("rules: {long-line: {characters: many}}", "must be int"),
        ("rules: [unused-parameter]", "must map names"),
        ("overrides: [{rules: {}}]", 'needs "files"'),
        ("exclude: vendor", "must be a list of globs"),
        ("rules: {", "not valid YAML"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, settings: str, message: str) -> None:
    write(tmp_path, ".stokerlint.yaml", settings)
    with pytest.raises(InputError) as refused:
        found(write(tmp_path, "app.yaml", TEMPLATE))
    assert message in refused.value.message


def test_unknown_rule_of_command_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean"):
        SettingsFiles(ignored=["unused-paramter"])


@pytest.mark.parametrize(
    "comment",
    [
        "# stoker: ignore=open-admin-port",
        "# stoker: ignore=open-admin-port  the jump host",
        "# stoker:ignore = unused-parameter, open-admin-port: both",
    ],
)
@pytest.mark.parametrize("place", ["behind", "above", "two lines above"])
def test_comment_ignores_finding_in_its_line(tmp_path: Path, comment: str, place: str) -> None:
    line = "      remote_ip_prefix: 0.0.0.0/0\n"
    changed = {
        "behind": f"{line.rstrip()}  {comment}\n",
        "above": f"      {comment}\n{line}",
        "two lines above": f"      {comment}\n      # more\n{line}",
    }
    text = TEMPLATE.replace(line, changed[place])
    assert codes(write(tmp_path, "app.yaml", text)) == {"unused-parameter"}


def test_comment_ignores_rules_in_file(tmp_path: Path) -> None:
    text = f"{TEMPLATE}# stoker: ignore-file=open-admin-port,unused-parameter  an example\n"
    assert codes(write(tmp_path, "app.yaml", text)) == set()


def test_comment_elsewhere_ignores_nothing(tmp_path: Path) -> None:
    text = TEMPLATE.replace("resources:", "resources:  # stoker: ignore=open-admin-port")
    path = write(tmp_path, "app.yaml", text)
    assert codes(path) == FOUND
    ignores = [each for each in found(path, SettingsFiles(Level.STRICT)) if "ignore" in each.code]
    assert [(each.code, each.line) for each in ignores] == [("unused-ignore", 4)]


def test_comment_of_skipped_rule_is_used(tmp_path: Path) -> None:
    text = f"{TEMPLATE}# stoker: ignore-file=trailing-space\n"
    path = write(tmp_path, "app.yaml", text)
    assert "unused-ignore" not in codes(path, SettingsFiles(Level.STRICT))


def test_comment_ignores_finding_of_nested_template(tmp_path: Path) -> None:
    member = "heat_template_version: 2021-04-16\nresources:\n  a: {type: My::Own}"
    write(tmp_path, "member.yaml", f"{member}  # stoker: ignore=unknown-type\n")
    parent = "heat_template_version: 2021-04-16\nresources:\n  m: {type: member.yaml}\n"
    assert codes(write(tmp_path, "app.yaml", parent)) == set()
