"""Fn::ForEach of CloudFormation's language extensions."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity, Inputs
from stoker.template.evaluate.static_analysis import RecordedReferences

TYPES = Registry()
TEXT = {"Type": "OS::Heat::RandomString"}
LIST = {"Names": {"Type": "CommaDelimitedList", "Default": "A,B"}}


def evaluation(values: dict[str, Any] | None = None, **sections: Any) -> Evaluation:
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Transform": "AWS::LanguageExtensions",
        **sections,
    }
    inputs = Inputs(Identity(project_id="p1"), parameters=values or {})
    return Evaluation(parse(template), inputs, TYPES)


def errors(loop: Any, **sections: Any) -> list[Diagnostic]:
    resources = {"Fn::ForEach::L": loop}
    return evaluation(Resources=resources, **sections).validate().errors


@pytest.mark.parametrize(
    ("values", "names"), [(None, ("A1", "B1")), ({"Names": "X,Y,Z"}, ("X1", "Y1", "Z1"))]
)
def test_loop_makes_a_resource_per_parameter_value(
    values: dict[str, Any] | None, names: tuple[str, ...]
) -> None:
    loop = ["N", {"Ref": "Names"}, {"${N}1": TEXT}]
    found = evaluation(values, Parameters=LIST, Resources={"Fn::ForEach::L": loop})
    assert found.validate().errors == []
    assert found.names == names


def test_loops_replace_their_variables() -> None:
    properties = {
        "value": [{"Ref": "N"}, {"Fn::Sub": "${N}-${AWS::Partition}"}, "${Other}", "&{N}"],
    }
    resource = {"Type": "OS::Heat::Value", "Properties": properties}
    outputs = {"Value": {"Fn::GetAtt": ["V&{N}", "value"]}}
    found = evaluation(
        Resources={"Fn::ForEach::L": ["N", ["a.b", 7], {"V&{N}": resource}]},
        Outputs={"Fn::ForEach::O": ["N", ["a.b"], {"O&{N}": outputs}]},
    )
    assert found.validate().errors == []
    assert found.names == ("Vab", "V7")
    written = found.template.resources["Vab"].properties["value"]
    assert written == ["a.b", {"Fn::Sub": "a.b-${AWS::Partition}"}, "${Other}", "ab"]
    assert list(found.template.outputs) == ["Oab"]
    assert list(found.dependencies["Vab"]) == []


def test_loops_nest_in_loops_properties_and_conditions() -> None:
    inner = [
        "B",
        {"Fn::FindInMap": ["M", "${A}", "of"]},
        {"R${A}${B}": {**TEXT, "Condition": "C${A}"}},
    ]
    properties = {"value": {"Fn::ForEach::P": ["K", ["x", "y"], {"${K}": "is ${K}"}], "z": 1}}
    found = evaluation(
        Mappings={"M": {"1": {"of": ["a", "b"]}, "2": {"of": ["c"]}}},
        Conditions={"Fn::ForEach::C": ["A", [1, 2], {"C${A}": {"Fn::Equals": ["${A}", "1"]}}]},
        Resources={
            "Fn::ForEach::Outer": ["A", [1, 2], {"Fn::ForEach::Inner": inner}],
            "V": {"Type": "OS::Heat::Value", "Properties": properties},
        },
        Outputs={"o": {"Value": {"Fn::GetAtt": ["V", "value"]}}},
    )
    assert found.validate().errors == []
    assert found.names == ("R1a", "R1b", "V")
    assert found.definition("V", RecordedReferences()).properties["value"] == {
        "x": "is x",
        "y": "is y",
        "z": 1,
    }


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("x", "a loop is"),
        (["N", ["a"]], "a loop is"),
        (["N", ["a"], []], "a loop is"),
        (["N-", ["a"], {}], "letters and digits"),
        ([1, ["a"], {}], "letters and digits"),
        ([["N", "M"], [["a", "b"]], {}], "one identifier"),
        (["N", ["a"], {"Fn::ForEach::I": ["N", ["b"], {}]}], "those around"),
        (["N", {"a": 1}, {}], "through a list"),
        (["N", [["a"]], {}], "texts and numbers"),
        (["N", {"Ref": "Nothing"}, {}], "Nothing"),
        (["N", {"Fn::GetAtt": ["R", "value"]}, {}], ""),
        (["N", ["a", "b"], {"R": TEXT}], "twice"),
        (["N", ["a"], {"${N}/": TEXT}], "cannot name a resource"),
        (["N", ["a"], {"${N}": 1}], "a resource must be a map"),
    ],
)
def test_invalid_loop_is_reported(loop: Any, told: str) -> None:
    found = errors(loop)
    assert found
    assert told in found[0].message


def test_loops_that_make_too_much_are_refused() -> None:
    many = [str(number) for number in range(500)]
    loop: Any = {"${A}${B}${C}": TEXT}
    for name in "ABC":
        loop = {f"Fn::ForEach::{name}": [name, many, loop]}
    found = evaluation(Resources=loop).validate().errors
    assert found[0].code == "too-large"


def test_a_loop_needs_the_language_extensions() -> None:
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"Fn::ForEach::L": ["N", ["a"], {"${N}": TEXT}]},
    }
    with pytest.raises(Exception, match="AWS::LanguageExtensions"):
        parse(template)
