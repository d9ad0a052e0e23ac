"""Features of today's CloudFormation templates that Heat's dialect does not have."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.resources.base.registry import Registry
from stoker.template.definition import DeletionPolicy
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity, Inputs
from stoker.template.evaluate.static_analysis import RecordedReferences
from stoker.template.evaluate.validation import as_template_diagnostics

TYPES = Registry()


def evaluation(values: dict[str, Any] | None = None, **sections: Any) -> Evaluation:
    template = {"AWSTemplateFormatVersion": "2010-09-09", **sections}
    inputs = Inputs(Identity(project_id="p1"), parameters=values or {})
    return Evaluation(parse(template), inputs, TYPES)


def errors(values: dict[str, Any] | None = None, **sections: Any) -> list[Diagnostic]:
    return evaluation(values, **sections).validate().errors


def value(written: Any, **sections: Any) -> Any:
    found = evaluation(Outputs={"o": {"Value": written}}, **sections)
    assert found.validate().errors == []
    [output] = found.outputs(RecordedReferences())
    assert output.error is None
    return output.value


NO_VALUE = {"Ref": "AWS::NoValue"}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"Ref": "AWS::AccountId"}, "p1"),
        ({"Fn::Sub": "${AWS::Partition}:${AWS::AccountId}"}, "openstack:p1"),
        ({"Ref": "AWS::NotificationARNs"}, []),
        ([1, NO_VALUE, {"a": NO_VALUE, "b": 2}], [1, {"b": 2}]),
        ({"a": {"Fn::If": ["Never", 1, NO_VALUE]}, "b": 2}, {"b": 2}),
        ({"Fn::FindInMap": ["M", "a", "b"]}, "there"),
        ({"Fn::FindInMap": ["M", "a", "c", {"DefaultValue": {"Ref": "AWS::AccountId"}}]}, "p1"),
        ({"Fn::FindInMap": ["N", "a", "c", {"DefaultValue": "d"}]}, "d"),
        ({"Fn::FindInMap": ["M", "a", "b", {"DefaultValue": "d"}]}, "there"),
    ],
)
def test_values_that_templates_for_aws_use(written: Any, expected: Any) -> None:
    sections = {
        "Mappings": {"M": {"a": {"b": "there"}}},
        "Conditions": {"Never": {"Fn::Equals": ["1", "2"]}},
    }
    assert value(written, **sections) == expected


@pytest.mark.parametrize(
    "written",
    [
        {"Fn::FindInMap": ["M", "a", "c"]},
        {"Fn::FindInMap": ["M", "a", "c", {"Default": "d"}]},
        {"Fn::FindInMap": ["M", "a", {"Ref": "nowhere"}, {"DefaultValue": "d"}]},
        {"Ref": "AWS::URLSuffix"},
    ],
)
def test_what_has_no_value_is_refused(written: Any) -> None:
    found = evaluation(Outputs={"o": {"Value": written}}, Mappings={"M": {"a": {"b": "x"}}})
    [output] = found.outputs(RecordedReferences())
    assert output.error is not None


@pytest.mark.parametrize(
    "condition",
    [
        {"Fn::Equals": [{"Fn::Join": ["-", {"Ref": "Zones"}]}, "a-b"]},
        {"Fn::Equals": [{"Fn::Select": [1, {"Ref": "Zones"}]}, "b"]},
        {"Fn::Equals": [{"Fn::Select": [1, {"Fn::Split": ["/", "10.0.0.0/16"]}]}, "16"]},
        {"Fn::Equals": [{"Fn::Sub": "${Env}-${AWS::AccountId}"}, "dev-p1"]},
        {"Fn::Equals": [{"Fn::Length": {"Ref": "Zones"}}, 2]},
        {"Fn::Equals": [{"Ref": "AWS::Partition"}, "openstack"]},
    ],
)
def test_conditions_take_texts_and_lists_apart(condition: Any) -> None:
    declared = {
        "Env": {"Type": "String", "Default": "dev"},
        "Zones": {"Type": "CommaDelimitedList", "Default": "a,b"},
    }
    sections = {"Parameters": declared, "Conditions": {"Holds": condition}}
    assert value({"Fn::If": ["Holds", "yes", "no"]}, **sections) == "yes"


@pytest.mark.parametrize("written", ["${A}", "${A.value}"])
def test_conditions_fill_in_no_resources(written: str) -> None:
    condition = {"Fn::Equals": [{"Fn::Sub": written}, "x"]}
    resources = {"A": {"Type": "OS::Heat::RandomString"}}
    outputs = {"O": {"Condition": "C", "Value": 1}}
    _, found = errors(Conditions={"C": condition}, Resources=resources, Outputs=outputs)
    assert found.path == ("Conditions", "C", "Fn::Equals", 0, "Fn::Sub")


def test_metadata_of_a_template_is_for_others() -> None:
    assert errors(Metadata={"AWS::CloudFormation::Interface": {"ParameterGroups": []}}) == []


@pytest.mark.parametrize(
    ("transform", "wrong"),
    [
        ("AWS::LanguageExtensions", None),
        (["AWS::LanguageExtensions"], None),
        ("AWS::Serverless-2016-10-31", "Serverless"),
        (["AWS::LanguageExtensions", 3], "3"),
    ],
)
def test_only_the_supported_macro_is_accepted(transform: Any, wrong: str | None) -> None:
    if wrong is None:
        assert errors(Transform=transform) == []
        return
    with pytest.raises(Exception, match=wrong):
        errors(Transform=transform)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("List<Number>", "1,2", ["1", "2"]),
        ("List<String>", "a", ["a"]),
        ("List<AWS::EC2::Subnet::Id>", "a,b", ["a", "b"]),
        ("AWS::EC2::KeyPair::KeyName", "key", "key"),
        ("AWS::EC2::AvailabilityZone::Name", "nova", "nova"),
    ],
)
def test_parameters_have_the_types_of_aws(kind: str, given: str, expected: Any) -> None:
    found = evaluation({"P": given}, Parameters={"P": {"Type": kind}})
    assert found.validate().errors == []
    assert found.parameters["P"] == expected
    checks = [(each.constraint, each.value) for each in found.custom_checks()]
    assert checks == ([("nova.keypair", "key")] if "KeyPair" in kind else [])


@pytest.mark.parametrize(
    "kind", ["AWS::SSM::Parameter::Value<String>", "List<Json>", "AWS::EC2::Moon::Id"]
)
def test_other_types_of_parameters_are_refused(kind: str) -> None:
    [found] = errors(Parameters={"P": {"Type": kind, "Default": "x"}})
    assert found.path == ("Parameters", "P", "Type")
    assert ("Systems Manager" in found.message) == ("SSM" in kind)


RULES = {
    "Sizes": {
        "RuleCondition": {"Fn::Equals": [{"Ref": "Env"}, "prod"]},
        "Assertions": [
            {
                "Assert": {
                    "Fn::And": [
                        {"Fn::Contains": [["large", "huge"], {"Ref": "Size"}]},
                        {"Fn::EachMemberIn": [{"Ref": "Zones"}, ["a", "b"]]},
                    ]
                },
                "AssertDescription": "prod needs a large size",
            }
        ],
    }
}
DECLARED = {
    "Env": {"Type": "String"},
    "Size": {"Type": "String", "Default": "small"},
    "Zones": {"Type": "List<String>", "Default": "a,b"},
}


@pytest.mark.parametrize(
    ("given", "broken"),
    [
        ({"Env": "test"}, False),
        ({"Env": "prod"}, True),
        ({"Env": "prod", "Size": "huge"}, False),
        ({"Env": "prod", "Size": "huge", "Zones": "a,c"}, True),
    ],
)
def test_rules_say_which_parameters_fit_together(given: dict[str, str], broken: bool) -> None:
    found = errors(given, Rules=RULES, Parameters=DECLARED)
    assert [each.message for each in found] == ["Rule Sizes: prod needs a large size"] * broken
    if broken:
        assert found[0].path == ("Rules", "Sizes", "Assertions", 0)
        told = evaluation(given, Rules=RULES, Parameters=DECLARED).validate()
        assert {each.severity for each in as_template_diagnostics(told)} == {Severity.WARNING}


def test_rules_without_parameter_values_are_not_evaluated() -> None:
    found = errors(Rules=RULES, Parameters=DECLARED)
    assert {each.code for each in found} == {"missing-parameter"}


@pytest.mark.parametrize(
    "rule",
    [
        3,
        {},
        {"Assertions": 3},
        {"Assertions": [3]},
        {"Assertions": [{"Assert": {"Ref": "nowhere"}}]},
        {"Assertions": [{"Assert": {"Fn::Contains": ["a", "b"]}}]},
        {"Assertions": [{"Assert": {"Fn::EachMemberEquals": "a"}}]},
        {"Assertions": [], "Extra": 1},
    ],
)
def test_what_is_no_rule_is_refused(rule: Any) -> None:
    assert all(each.path[0] == "Rules" for each in errors(Rules={"R": rule}))
    assert errors(Rules={"R": rule})


def test_replaced_object_has_its_own_policy() -> None:
    body = {"Type": "OS::Heat::None", "UpdateReplacePolicy": "Retain"}
    found = evaluation(Resources={"r": body, "s": {"Type": "OS::Heat::None"}})
    assert found.validate() == []
    policies = {
        name: found.definition(name, RecordedReferences()).update_replace_policy for name in "rs"
    }
    assert policies == {"r": DeletionPolicy.RETAIN, "s": None}
    [wrong] = errors(Resources={"r": {**body, "UpdateReplacePolicy": "Perhaps"}})
    assert wrong.path[-1] == "UpdateReplacePolicy"


def test_conditions_call_each_other_by_a_function() -> None:
    sections = {
        "Conditions": {
            "Yes": {"Fn::Equals": ["a", "a"]},
            "Same": {"Condition": "Yes"},
            "Both": {"Fn::And": [{"Condition": "Yes"}, {"Fn::Not": [{"Condition": "No"}]}]},
            "No": {"Fn::Not": [{"Condition": "Same"}]},
        },
    }
    assert value({"Fn::If": ["Both", "yes", "no"]}, **sections) == "yes"
    assert value({"Fn::If": ["No", "yes", "no"]}, **sections) == "no"


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({"a": {"Condition": "b"}, "b": {"Condition": "a"}}, "Circular dependency between"),
        ({"a": {"Fn::Not": [{"Condition": "c"}]}}, 'Invalid condition "c": there is no condition'),
        ({"a": {"Condition": ["c"]}}, "a condition must be a boolean"),
    ],
)
def test_calls_of_conditions_that_lead_nowhere_are_refused(
    conditions: dict[str, Any], words: str
) -> None:
    found = errors(Conditions=conditions, Resources={})
    assert found[0].message.startswith(words)
