"""The versions have exactly the functions and sections that were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stoker.kernel.diagnostics import Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs
from stoker.template.functions.registry import condition_functions_of, functions_of
from stoker.template.versions import VERSIONS, Version

RECORDED = json.loads(
    (Path(__file__).parents[1] / "conformance" / "template_versions.json").read_text()
)["template_versions"]

# Sections that CloudFormation got later, by key of the version.
SINCE = {"AWSTemplateFormatVersion": {"Metadata", "Rules", "Transform"}}


@pytest.mark.parametrize(
    ("version", "recorded"),
    list(zip(VERSIONS, RECORDED, strict=True)),
    ids=[str(version) for version in VERSIONS],
)
def test_a_version_is_as_recorded(version: Version, recorded: dict[str, Any]) -> None:
    assert str(version) == recorded["version"]
    assert version.dialect.name == recorded["type"]
    assert sorted(version.functions) == recorded["functions"]
    assert sorted(version.condition_functions) == recorded["condition_functions"]
    newer = SINCE.get(version.key, set())
    assert version.sections == (set(recorded["sections"]) - {"__undefined__"}) | newer
    assert dict(version.deletion_policies) == recorded["deletion_policies"]
    assert sorted(version.removed) == recorded["removed_functions"]
    aliases = [f"{version.key}.{alias}" for alias in version.aliases]
    assert aliases == recorded["aliases"]


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_every_function_of_a_version_exists(version: Version) -> None:
    assert functions_of(version).keys() >= version.functions | version.extensions
    assert condition_functions_of(version).keys() >= version.condition_functions


def test_removed_function_is_refused_with_its_replacement() -> None:
    outputs = {"o": {"value": {"Fn::Join": ["-", ["a"]]}}}
    template = parse({"heat_template_version": "2014-10-16", "outputs": outputs})
    found = list(Evaluation(template, Inputs(), Registry()).validate())
    assert [(d.severity, d.suggestion) for d in found] == [(Severity.ERROR, "use list_join")]


@pytest.mark.parametrize(
    "template",
    [
        {"heat_template_version": "2015-10-15", "outputs": {"o": {"value": 1, "condition": "c"}}},
        {
            "HeatTemplateFormatVersion": "2012-12-12",
            "Resources": {"r": {"Type": "OS::Heat::None", "Condition": "c"}},
        },
    ],
)
def test_conditions_mean_nothing_in_versions_without_them(template: dict[str, Any]) -> None:
    evaluation = Evaluation(parse(template), Inputs(), Registry())
    assert [d for d in evaluation.validate() if d.severity is Severity.ERROR] == []
    assert len(evaluation.names) + len(evaluation.resolved.outputs) == 1
