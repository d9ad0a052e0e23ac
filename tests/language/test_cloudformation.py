"""CloudFormation templates: accepted contents, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TYPES = Registry()


def findings(**sections: Any) -> list[Diagnostic]:
    template = {"AWSTemplateFormatVersion": "2010-09-09", **sections}
    return list(Evaluation(parse(template), Inputs(), TYPES).validate())


def in_property(value: Any) -> Diagnostic:
    properties = {"Type": "OS::Heat::Value", "Properties": {"value": value}}
    return findings(Resources={"r": properties})[0]


def in_output(value: Any) -> Diagnostic:
    return findings(Outputs={"o": {"Value": value}})[0]


def test_unknown_resource_keys_are_ignored_with_warning() -> None:
    body = {"Type": "OS::Heat::None", "Foo": 1}
    found = [(d.severity, d.code, d.path[-1]) for d in findings(Resources={"r": body})]
    assert found == [
        (Severity.WARNING, "unknown-key", "Foo"),
    ]


@pytest.mark.parametrize("name", [["s"], {"a": "b"}, {"Ref": "AWS::StackName"}])
def test_ref_takes_a_plain_name_only(name: Any) -> None:
    for found in (in_property({"Ref": name}), in_output({"Ref": name})):
        assert (found.severity, found.code) == (Severity.ERROR, "bad-arguments")


@pytest.mark.parametrize("name", [None, 1, "nowhere"])
def test_condition_without_parameter_is_refused_as_bad_reference(name: Any) -> None:
    found = findings(Conditions={"c": {"Fn::Equals": [{"Ref": name}, "x"]}})[0]
    assert found.error_type.name == "InvalidTemplateReference"


def test_getatt_without_attribute_is_refused() -> None:
    assert in_property({"Fn::GetAtt": "r"}).error_type.name == "InvalidTemplateReference"
    assert in_output({"Fn::GetAtt": "r"}).error_type.name == "StackValidationFailed"
    assert in_property({"Fn::GetAtt": "r.value"}).error_type.name == "StackValidationFailed"


def test_bad_template_of_replace_has_its_position() -> None:
    found = in_output({"Fn::Replace": [{"a": "b"}, 5]})
    assert found.path == ("Outputs", "o", "Value", "Fn::Replace", 1)


@pytest.mark.parametrize("declaration", [{"Type": "String"}, {"Type": "Number", "Default": "x"}])
def test_invalid_parameter_value_is_reported_at_declaration(
    declaration: dict[str, Any],
) -> None:
    (found,) = findings(Parameters={"p": declaration})
    assert found.path == ("Parameters", "p")
