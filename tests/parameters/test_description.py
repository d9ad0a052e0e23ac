"""Templates as the API's validation answers them."""

from tests.evaluating import with_helpers

from stoker.resources.base.registry import Registry
from stoker.template.describe.description import describe_template
from stoker.template.document import parse
from stoker.template.environment.environment import parse_environment
from stoker.template.evaluate.evaluation import Evaluation

CHILD = """
heat_template_version: 2021-04-16
description: inner
parameters:
  needed: {type: number}
  list: {type: comma_delimited_list, default: x}
resources:
  c: {type: OS::Heat::None}
"""


def described(template, *, show_nested=False, **inputs):
    evaluation = Evaluation(parse(template), with_helpers(**inputs), Registry())
    return describe_template(evaluation, show_nested=show_nested)


def parent(properties):
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"n": {"type": "c.yaml", "properties": properties}},
    }


def test_parameters_groups_and_environment_are_described():
    template = {
        "heat_template_version": "2021-04-16",
        "description": "D",
        "parameter_groups": [{"label": "G", "parameters": ["p"]}],
        "parameters": {"p": {"type": "string", "default": "d"}},
    }
    environment = parse_environment({"parameters": {"p": "e"}})
    assert described(template, environment=environment) == {
        "Description": "D",
        "Parameters": {
            "p": {
                "Type": "String",
                "Description": "",
                "NoEcho": "false",
                "Label": "p",
                "Default": "d",
                "Value": "e",
            }
        },
        "ParameterGroups": [{"label": "G", "parameters": ["p"]}],
        "Environment": {
            "resource_registry": {"resources": {}},
            "parameters": {"p": "e"},
            "parameter_defaults": {},
            "event_sinks": [],
        },
    }


def test_nested_templates_are_described_with_their_values():
    answer = described(
        parent({"needed": 5, "list": ["a", "b"]}), show_nested=True, files={"c.yaml": CHILD}
    )
    nested = answer["NestedParameters"]["n"]
    assert (nested["Type"], nested["Description"]) == ("c.yaml", "inner")
    assert nested["Parameters"]["needed"]["Value"] == 5
    assert nested["Parameters"]["list"]["Value"] == "a,b"
    assert "Environment" not in nested


def test_nested_templates_with_wrong_values_are_described():
    for properties in ({}, {"needed": "x"}):
        answer = described(parent(properties), show_nested=True, files={"c.yaml": CHILD})
        assert answer["NestedParameters"]["n"]["Parameters"]["needed"]["Type"] == "Number"


def test_nested_templates_are_described_on_demand_only():
    assert "NestedParameters" not in described(parent({"needed": 1}), files={"c.yaml": CHILD})


def test_types_reached_by_globs_show_in_registry():
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {"r": {"type": "My::Thing", "properties": {"value": 1}}},
    }
    environment = parse_environment({"resource_registry": {"My::*": "OS::Heat::Value"}})
    registry = described(template, environment=environment)["Environment"]["resource_registry"]
    assert registry == {
        "resources": {},
        "My::*": "OS::Heat::Value",
        "My::Thing": "OS::Heat::Value",
    }
