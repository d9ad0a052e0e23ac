"""Templates of this repository that are meant to be good have no findings at the default level."""

from __future__ import annotations

from pathlib import Path

import pytest

from stoker.cli.authoring.discovery import documents_in
from stoker.cli.authoring.lint.files import lint_files
from stoker.cli.authoring.lint.rule import Level
from stoker.cli.authoring.lint.settings import SettingsFiles

ROOT = Path(__file__).resolve().parents[2]
# Directories with templates, and their true findings, by document and rule.
GOOD: dict[str, set[tuple[str, str]]] = {
    "examples": {("alarm.yaml", "deprecated-type")},
    "tests/engines": set(),
    "tests/recovery": {("networks.yaml", "unused-security-group")},
    "tests/guests": {("first_years.yaml", "deprecated-type")},
}


@pytest.mark.parametrize("directory", GOOD)
def test_good_templates_have_no_findings(directory: str) -> None:
    documents = list(documents_in([ROOT / directory]))
    assert documents
    found = lint_files(documents, (), SettingsFiles(Level.DEFAULT)).found
    assert {(Path(each.file).name, each.code) for each in found} == GOOD[directory]
