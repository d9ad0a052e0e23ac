"""Whatever is given, evaluation answers: with values, or with findings, and in time."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.evaluating import with_helpers

from stoker.kernel.diagnostics import MAX_DIAGNOSTICS, DiagnosticError
from stoker.resources.base.registry import Registry
from stoker.schema.unknown import Unknown
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.validation import as_template_diagnostics
from stoker.template.source.source import read
from stoker.template.versions import VERSIONS

TYPES = Registry()
CALM = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=300)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["a", "p", "c", "value", "str", "OS::Heat::Value", "%v%", "0", "1"])
)
NAMES = sorted(
    {name for version in VERSIONS for name in version.functions | version.condition_functions}
    | {"Fn::Sub", "Fn::ToJsonString", "Fn::Length", "Fn::Cidr"}
)
KEYS = st.text(max_size=4) | st.sampled_from(
    ["template", "params", "for_each", "expression", "data", "permutations", "host", "keys", "port"]
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.builds(lambda name, value: {name: value}, st.sampled_from(NAMES), inner)
    ),
    max_leaves=12,
)
CALLS = st.builds(lambda name, value: {name: value}, st.sampled_from(NAMES), TREES)
SECTIONS = [
    "parameters",
    "resources",
    "outputs",
    "conditions",
    "parameter_groups",
    "description",
    "Parameters",
    "Resources",
    "Outputs",
    "Conditions",
    "Mappings",
    "r",
    "type",
    "properties",
    "metadata",
    "depends_on",
    "deletion_policy",
    "update_policy",
    "condition",
    "value",
    "Type",
    "Properties",
    "Value",
    "constraints",
    "default",
]
DOCUMENTS = st.recursive(
    SCALARS | CALLS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(SECTIONS), inner, max_size=4)
    ),
    max_leaves=20,
)


class Facts:
    """Return resources, about which anything may be known."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def reference(self, name: str) -> Any:
        return self._value

    def attribute(self, name: str, attribute: str) -> Any:
        return self._value


def evaluate_all(template: Any, value: Any) -> None:
    """Everything that can be asked of a template."""
    with suppress(DiagnosticError):
        evaluation = Evaluation(parse(template), with_helpers(), TYPES)
        evaluation.validate()
        as_template_diagnostics(evaluation.validate())
        _ = evaluation.attributes_used, evaluation.custom_checks()
        for output in evaluation.outputs(Facts(value)):
            json.dumps(output.value)
        for name in evaluation.names:
            evaluation.definition(name, Facts(value))


@CALM
@given(st.sampled_from(VERSIONS), DOCUMENTS, st.sampled_from([None, "x", ["x"], {"k": 1}]))
def test_any_json_as_template_gives_findings_or_values(
    version: Any, document: Any, value: Any
) -> None:
    data = document if isinstance(document, dict) else {"outputs": document}
    evaluate_all({version.key: version.name, **data}, value)


@CALM
@given(CALLS, st.sampled_from(VERSIONS), SCALARS | st.just(Unknown(frozenset("a"))))
def test_any_function_call_gives_value_or_finding(call: Any, version: Any, value: Any) -> None:
    keys = version.dialect
    template = {
        version.key: version.name,
        keys.parameters: {
            "p": {keys.type: "String" if keys.name == "cfn" else "string", "default": "x"}
            if keys.name == "hot"
            else {"Type": "String", "Default": "x"}
        },
        keys.resources: {
            "a": {keys.type: "OS::Heat::Value", keys.properties: {"value": 1}},
            "b": {keys.type: "OS::Heat::Value", keys.properties: {"value": call}},
        },
        keys.outputs: {"o": {keys.value: call}},
    }
    if version.has_conditions:
        template[keys.conditions] = {"c": call, "d": True}
    evaluate_all(template, value)


@CALM
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_a_printed_document_is_read_as_it_was(document: Any) -> None:
    assert read(yaml.safe_dump({"d": document})).data == {"d": document}
    assert read(json.dumps({"d": document})).data == {"d": document}


@CALM
@given(st.text(max_size=60) | st.text(alphabet="{}[]:,-?&*!|>'\"%@ \n\tab01<~", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    evaluate_all(text, None)
    with suppress(DiagnosticError):
        read(text)


def doubled(times: int) -> dict[str, Any]:
    """Outputs that would double a text again and again."""
    text: Any = "x" * 100
    for _ in range(times):
        text = {"str_replace": {"template": "AA", "params": {"A": text}}}
    return {"heat_template_version": "2021-04-16", "outputs": {"o": {"value": text}}}


def nested(name: str, value: Any, times: int) -> Any:
    """A function called on itself."""
    for _ in range(times):
        value = {name: value}
    return value


@pytest.mark.parametrize(
    "template",
    [
        doubled(40),
        {
            "heat_template_version": "2021-04-16",
            "outputs": {
                "o": {
                    "value": {
                        "repeat": {
                            "template": "abcdef",
                            "for_each": {letter: ["1"] * 50 for letter in "abcdef"},
                        }
                    }
                }
            },
        },
        {
            "heat_template_version": "2021-04-16",
            "outputs": {
                "o": {
                    "value": {
                        "yaql": {
                            "expression": "range(0,200).select(range(0,200).select("
                            "range(0,200).select(1).sum()).sum()).sum()"
                        }
                    }
                }
            },
        },
        {
            "heat_template_version": "2021-04-16",
            "conditions": {f"c{n}": {"and": [f"c{n + 1}", f"c{n + 1}"]} for n in range(40)}
            | {"c40": True},
            "outputs": {"o": {"value": 1, "condition": "c0"}},
        },
        {
            "heat_template_version": "2021-04-16",
            "conditions": {f"c{n}": {"not": f"c{n + 1}"} for n in range(5000)} | {"c5000": True},
            "outputs": {"o": {"value": 1, "condition": "c0"}},
        },
        {
            "heat_template_version": "2021-04-16",
            "conditions": {
                f"c{n}": nested("not", f"c{n + 1}" if n < 39 else True, 95) for n in range(40)
            },
            "outputs": {"o": {"value": 1, "condition": "c0"}},
        },
        {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Outputs": {"o": {"Value": nested("Fn::ToJsonString", "x", 24)}},
        },
    ],
    ids=["text", "repeat", "yaql", "conditions", "long-chain", "deep-conditions", "deep-calls"],
)
def test_work_is_bounded(template: dict[str, Any]) -> None:
    begin = time.process_time()
    evaluate_all(template, "x")
    assert time.process_time() - begin < 10


def test_patterns_in_expressions_are_given_up_in_time() -> None:
    text = 'regex("(a|aa)+$").matches("' + "a" * 60 + 'b")'
    outputs = {"o": {"value": {"yaql": {"expression": text, "data": {}}}}}
    begin = time.process_time()
    evaluate_all({"heat_template_version": "2021-04-16", "outputs": outputs}, None)
    assert time.process_time() - begin < 5


def test_patterns_of_parameters_are_given_up_in_time() -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {
            "p": {
                "type": "string",
                "default": "a" * 60 + "b",
                "constraints": [{"allowed_pattern": "(a|aa)+"}],
            }
        },
    }
    begin = time.process_time()
    evaluate_all(template, None)
    assert time.process_time() - begin < 5


def test_thousands_of_mistakes_are_found_in_time() -> None:
    count = 3000
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {
            f"resource_{n}": {
                "type": "OS::Heat::Value",
                "depends_on": [f"resorce_{n}"],
                "properties": {"value": {"get_resource": f"resourc_{n}"}, f"valu_{n}": 1},
            }
            for n in range(count)
        },
        "outputs": {f"o{n}": {"value": {"get_attr": [f"resourc_{n}", "x"]}} for n in range(count)},
    }
    begin = time.process_time()
    found = Evaluation(parse(template), with_helpers(), TYPES).validate()
    assert len(found.errors) == MAX_DIAGNOSTICS
    assert f"there are {3 * count} findings" in found[-1].message
    assert time.process_time() - begin < 10
