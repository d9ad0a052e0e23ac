"""Every function with good and bad arguments, from ``functions.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.evaluating import with_helpers

from stoker.kernel.diagnostics import DiagnosticError, Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.functions.registry import condition_functions_of, functions_of
from stoker.template.versions import VERSIONS

TABLE: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "functions.yaml").read_text(encoding="utf-8")
)
GOOD = [(name, *pair) for name, entry in TABLE.items() for pair in entry["good"]]
BAD = [(name, arguments) for name, entry in TABLE.items() for arguments in entry["bad"]]
TYPES = Registry()
VALUE = {"k": "v", "l": [1, 2]}


class Live:
    """The one resource, as if it existed."""

    def reference(self, name: str) -> str:
        return f"{name}-id"

    def attribute(self, name: str, attribute: str) -> Any:
        return VALUE if attribute == "value" else None


def _hot(call: Any, *, condition: bool) -> dict[str, Any]:
    conditions = {"yes_": {"equals": [1, 1]}, "no_": {"equals": [1, 2]}}
    if condition:
        conditions["tested"] = call
        call = {"if": ["tested", True, False]}
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {
            "text": {"type": "string", "default": "hello"},
            "map": {"type": "json", "default": {"a": ["x", "y"]}},
            "list": {"type": "comma_delimited_list", "default": "one,two"},
        },
        "conditions": conditions,
        "resources": {"r": {"type": "OS::Heat::Value", "properties": {"value": VALUE}}},
        "outputs": {"o": {"value": call}},
    }


def _cfn(call: Any, *, condition: bool) -> dict[str, Any]:
    conditions = {"yes_": {"Fn::Equals": [1, 1]}, "no_": {"Fn::Equals": [1, 2]}}
    output = {"Value": {"Fn::If": ["tested", True, False]}} if condition else {"Value": call}
    if condition:
        conditions["tested"] = call
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"text": {"Type": "String", "Default": "hello"}},
        "Mappings": {"M": {"one": {"k": "v"}}},
        "Conditions": conditions,
        "Resources": {"r": {"Type": "OS::Heat::Value", "Properties": {"value": VALUE}}},
        "Outputs": {"o": output},
    }


def _evaluation(name: str, arguments: Any) -> Evaluation:
    entry, call = TABLE[name], {name: arguments}
    make = _cfn if entry.get("in") == "cfn" else _hot
    template = make(call, condition=entry.get("conditions", False))
    return Evaluation(parse(template), with_helpers(files={"a.txt": "content"}), TYPES)


def _is_refused(name: str, arguments: Any) -> bool:
    try:
        evaluation = _evaluation(name, arguments)
        found = [d for d in evaluation.validate() if d.severity is Severity.ERROR]
    except DiagnosticError:
        return True
    return bool(found) or any(output.error for output in evaluation.outputs(Live()))


@pytest.mark.parametrize(("name", "arguments", "value"), GOOD, ids=lambda item: str(item)[:40])
def test_good_arguments_give_their_value(name: str, arguments: Any, value: Any) -> None:
    evaluation = _evaluation(name, arguments)
    assert [d for d in evaluation.validate() if d.severity is Severity.ERROR] == []
    (output,) = evaluation.outputs(Live())
    assert (output.value, output.error) == (value, None)


@pytest.mark.parametrize(("name", "arguments"), BAD, ids=lambda item: str(item)[:40])
def test_bad_arguments_are_refused(name: str, arguments: Any) -> None:
    assert _is_refused(name, arguments), f"{name}: {arguments!r} was accepted"


def _with_one_left_out(name: str, arguments: Any) -> Iterator[Any]:
    """Yield the arguments with each entry in turn left out by a function, at every depth."""
    absent = {"Ref": "AWS::NoValue"} if TABLE[name].get("in") == "cfn" else {"if": ["no_", 1]}
    if isinstance(arguments, list):
        for index, entry in enumerate(arguments):
            for changed in (absent, *_with_one_left_out(name, entry)):
                yield [*arguments[:index], changed, *arguments[index + 1 :]]
    if isinstance(arguments, dict):
        for key, entry in arguments.items():
            for changed in (absent, *_with_one_left_out(name, entry)):
                yield {**arguments, key: changed}


@pytest.mark.parametrize(("name", "arguments", "value"), GOOD, ids=lambda item: str(item)[:40])
def test_left_out_arguments_give_values_or_faults(name: str, arguments: Any, value: Any) -> None:
    for changed in _with_one_left_out(name, arguments):
        with suppress(DiagnosticError):
            evaluation = _evaluation(name, changed)
            evaluation.validate()
            evaluation.outputs(Live())


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Fn::Select", [0, {"Ref": "AWS::NoValue"}]),
        ("Fn::Split", [{"Ref": "AWS::NoValue"}, "a,b"]),
        ("Fn::GetAtt", ["r", {"Ref": "AWS::NoValue"}]),
        ("contains", ["a", {"if": ["no_", ["a"]]}]),
        ("get_attr", [{"if": ["no_", "r"]}]),
    ],
)
def test_call_with_an_argument_left_out_is_refused(name: str, arguments: Any) -> None:
    assert _is_refused(name, arguments)


def test_no_function_is_missing_from_the_table() -> None:
    known = {
        name
        for version in VERSIONS
        for table in (functions_of(version), condition_functions_of(version))
        for name in table
    }
    assert sorted(known - TABLE.keys()) == []
