"""Parameters as the API shows them."""

import pytest

from stoker.schema.constraints import AllowedPattern, AllowedValues, Custom, Length, Modulo, Range
from stoker.template.describe.parameters import (
    described_parameters,
    environment_of_stack,
    shown_parameters,
)
from stoker.template.environment.environment import Environment
from stoker.template.parameters.groups import group_diagnostics
from stoker.template.parameters.parameters import Parameter, ParameterType, resolve

DECLARED = {
    "s": Parameter("s", ParameterType.STRING, default="x"),
    "n": Parameter("n", ParameterType.NUMBER, default=1.5),
    "b": Parameter("b", ParameterType.BOOLEAN, default=False),
    "l": Parameter("l", ParameterType.LIST, default="a, b ,c"),
    "ll": Parameter("ll", ParameterType.LIST, default=["a", "b"]),
    "j": Parameter("j", ParameterType.JSON, default={"a": [1]}),
    "js": Parameter("js", ParameterType.JSON, default='{"a": [1, null]}'),
    "h": Parameter("h", ParameterType.STRING, default="secret", hidden=True),
}


def test_the_parameters_of_a_stack_are_texts():
    pseudo = {"OS::stack_name": "s1"}
    values = resolve(DECLARED, {}, {}, pseudo).values
    assert shown_parameters(DECLARED, values, {}, pseudo) == {
        "OS::stack_name": "s1",
        "s": "x",
        "n": "1.5",
        "b": "False",
        "l": "a, b ,c",
        "ll": "a,b",
        "j": '{"a": [1]}',
        "js": '{"a": [1, null]}',
        "h": "******",
    }


def test_declaration_is_described_with_default_and_value():
    described = described_parameters(DECLARED, {"s": "given"}, {"s": "other"})
    assert described["s"] == {
        "Type": "String",
        "Description": "",
        "NoEcho": "false",
        "Label": "s",
        "Default": "other",
        "Value": "given",
    }
    assert described["h"]["NoEcho"] == "true"


@pytest.mark.parametrize("value", ["", [], {}, 0, 0.0, False])
def test_empty_values_zero_and_false_are_not_described(value):
    assert "Value" not in described_parameters(DECLARED, {"n": value}, {})["n"]


def test_every_constraint_is_described_in_its_own_key():
    constraints = (
        Length(1, 5, "ld"),
        Range(min=2),
        Modulo(2, 0),
        AllowedValues(["x"]),
        AllowedPattern(".*"),
        Custom("cron_expression"),
    )
    parameter = Parameter(
        "p", ParameterType.STRING, label="L", tags=("t",), constraints=constraints
    )
    assert described_parameters({"p": parameter}, {}, {})["p"] == {
        "Type": "String",
        "Description": "",
        "NoEcho": "false",
        "Label": "L",
        "Tags": ["t"],
        "MinLength": 1,
        "MaxLength": 5,
        "MinValue": 2,
        "Step": 2,
        "Offset": 0,
        "AllowedValues": ["x"],
        "AllowedPattern": ".*",
        "CustomConstraint": "cron_expression",
        "ConstraintDescription": "ld",
    }


def test_pseudo_parameters_are_not_described():
    declared = {"OS::stack_name": Parameter("OS::stack_name", ParameterType.STRING, default="x")}
    assert described_parameters(declared, {}, {}) == {}


def test_hidden_values_are_masked_in_stack_environment():
    environment = Environment(parameters={"h": "secret", "s": "open"})
    assert environment_of_stack(environment, DECLARED) == {
        "resource_registry": {"resources": {}},
        "parameters": {"h": "******", "s": "open"},
        "parameter_defaults": {},
        "event_sinks": [],
        "encrypted_param_names": [],
    }


def test_defaults_that_nested_stacks_hide_are_masked():
    environment = Environment(parameters={"s": "open"}, parameter_defaults={"n": "a", "s": "b"})
    nested = {"n": Parameter("n", ParameterType.STRING, hidden=True)}
    found = environment_of_stack(environment, DECLARED, nested=[nested])
    assert found["parameters"] == {"s": "open"}
    assert found["parameter_defaults"] == {"n": "******", "s": "b"}


def test_groups_may_be_unlabelled_and_empty():
    assert not group_diagnostics([{"parameters": ["p"]}, {"parameters": []}], {"p", "q"})
    assert not group_diagnostics(None, {"p"})


def test_parameter_may_be_in_one_group_only():
    (finding,) = group_diagnostics([{"parameters": ["p"]}, {"parameters": ["p"]}], {"p"})
    assert finding.path == ("parameter_groups", 1, "parameters", 0)


def test_a_group_needs_parameters_that_exist():
    assert group_diagnostics([{"label": "L"}], {"p"})
    assert group_diagnostics([{"parameters": ["zz"]}], {"p"})
    assert group_diagnostics("x", {"p"})


def test_a_group_names_its_parameters_by_text():
    assert group_diagnostics([{"parameters": [["p"], {"p": 1}]}], {"p"})
    assert not group_diagnostics([{"parameters": [5]}], {"5"})
