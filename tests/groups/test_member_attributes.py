"""References to attributes of members are checked before anything exists."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TYPES = Registry()
CHILD = "heat_template_version: 2021-04-16"


def _errors(group: dict[str, Any], path: list[Any]) -> list[str]:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {"g": group},
        "outputs": {"o": {"value": {"get_attr": ["g", *path]}}},
    }
    evaluation = Evaluation(parse(template), Inputs(files={"child.yaml": CHILD}), TYPES)
    return [str(d) for d in evaluation.validate() if d.severity is Severity.ERROR]


def _group(member: dict[str, Any], count: int = 3) -> dict[str, Any]:
    properties = {"count": count, "resource_def": member}
    return {"type": "OS::Heat::ResourceGroup", "properties": properties}


VALUE = {"type": "OS::Heat::Value", "properties": {"value": "v"}}


@pytest.mark.parametrize("path", [["nope"], ["attributes", "nope"], ["resource.0", "nope"]])
def test_unknown_member_attribute_is_refused_once(path: list[Any]) -> None:
    (error,) = _errors(_group(VALUE), path)
    assert "nope) is incorrect" in error


def test_unknown_member_attribute_is_refused_with_references() -> None:
    """Validation refuses the same as a deployment, before the other resources exist."""
    group = _group({"type": "OS::Heat::Value", "properties": {"value": {"get_resource": "g2"}}})
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {"g": group, "g2": {"type": "OS::Heat::None"}},
        "outputs": {"o": {"value": {"get_attr": ["g", "nope"]}}},
    }
    found = Evaluation(parse(template), Inputs(), TYPES).validate().errors
    assert ["nope) is incorrect" in str(each) for each in found] == [True]


@pytest.mark.parametrize(
    "path", [["value"], ["attributes", "value"], ["resource.7", "nope"], ["refs", 1], []]
)
def test_attributes_that_there_may_be_are_accepted(path: list[Any]) -> None:
    assert _errors(_group(VALUE), path) == []


def test_outputs_of_nested_templates_are_checked_when_needed() -> None:
    assert _errors(_group({"type": "child.yaml"}), ["nope"]) == []


@pytest.mark.parametrize("path", [["attributes"], ["attributes", 1]])
def test_the_attributes_of_members_are_named(path: list[Any]) -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "g": _group(VALUE),
            "v": {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["g", *path]}}},
        },
    }
    evaluation = Evaluation(parse(template), Inputs(), TYPES)
    (error,) = [str(d) for d in evaluation.validate() if d.severity is Severity.ERROR]
    assert '"attributes" is followed by the name of an attribute of the members' in error


def test_an_empty_group_has_any_attribute() -> None:
    assert _errors(_group(VALUE, count=0), ["nope"]) == []


def test_fault_in_member_definition_is_reported_once() -> None:
    wrong = {"type": "OS::Heat::Value", "properties": {"value": 1, "wrong": 1}}
    (error,) = _errors(_group(wrong, count=50), ["refs"])
    assert "Unknown Property wrong" in error
