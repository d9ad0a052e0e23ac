"""Certain corrections, which ``stoker lint --fix`` writes."""

from __future__ import annotations

from pathlib import Path

from stoker.cli.authoring.lint.correction import corrected
from stoker.cli.authoring.lint.settings import Settings
from stoker.template.source.source import read
from tests.cli.conftest import stoker

TEMPLATE = """heat_template_version: 2021-04-16
parameters:
  release: {type: string, default: 1.10}  # of 2021
resources:
  mode: {type: OS::Heat::Value, properties: {value: [0644, "0600", {get_param: release}]}}
"""
CORRECTED = TEMPLATE.replace("1.10", '"1.10"').replace("0644", '"0644"')


def test_values_get_quotes_and_all_else_stays() -> None:
    assert corrected(read(TEMPLATE), Settings()) == CORRECTED


def test_corrected_document_has_no_corrections() -> None:
    assert corrected(read(CORRECTED), Settings()) is None


def test_ignored_finding_is_not_corrected() -> None:
    text = TEMPLATE.replace("# of 2021", "# stoker: ignore=trailing-zero")
    found = corrected(read(text), Settings())
    assert found is not None
    assert "default: 1.10}" in found
    assert '"0644"' in found


def test_option_writes_files_and_reports_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(TEMPLATE.replace("get_param: release", "get_param: other"))
    done = stoker("lint", "--fix", str(path))
    assert '"0644"' in path.read_text()
    assert f"{path} is corrected" in done.stderr
    assert "octal-number" not in done.output
    assert "unknown-parameter" in done.output
