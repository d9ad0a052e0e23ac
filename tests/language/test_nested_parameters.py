"""Properties of a resource as parameters of the template that implements it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evaluating import with_helpers

from stoker.kernel.diagnostics import Severity
from stoker.resources.base.registry import Registry
from stoker.schema.unknown import unknown_in
from stoker.template.document import parse
from stoker.template.environment.environment import Environment
from stoker.template.evaluate.evaluation import Evaluation

TYPES = Registry()


def _child(kind: str) -> str:
    return f"""
heat_template_version: 2021-04-16
parameters:
  p: {{type: {kind}}}
outputs:
  o: {{value: {{get_param: p}}}}
"""


def _evaluation(kind: str, properties: dict[str, Any], **environment: Any) -> Evaluation:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {"n": {"type": "child.yaml", "properties": properties}},
    }
    inputs = with_helpers(
        files={"child.yaml": _child(kind)}, environment=Environment(**environment)
    )
    return Evaluation(parse(template), inputs, TYPES)


def _errors(evaluation: Evaluation) -> list[str]:
    return [d.message for d in evaluation.validate() if d.severity is Severity.ERROR]


class Nothing:
    """No resources."""

    def reference(self, name: str) -> Any:
        raise KeyError(name)

    def attribute(self, name: str, attribute: str) -> Any:
        raise KeyError(name)


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("string", 5, "5"),
        ("string", True, "True"),
        ("json", ["a", {"b": 1}], ["a", {"b": 1}]),
        ("json", '["a"]', ["a"]),
        ("json", {"a": 1}, {"a": 1}),
        ("comma_delimited_list", "a,b", ["a", "b"]),
        ("comma_delimited_list", ["a", None], ["a", ""]),
        (
            "comma_delimited_list",
            [{"a": 1, "b": "x"}, {"a": 2}],
            [".member.0.a=1", ".member.0.b=x", ".member.1.a=2"],
        ),
    ],
)
def test_a_property_becomes_a_parameter(kind: str, given: Any, value: Any) -> None:
    evaluation = _evaluation(kind, {"p": given})
    assert _errors(evaluation) == []
    (output,) = evaluation.children["n"].outputs(Nothing())
    assert output.value == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("string", ["a"]),
        ("string", {"a": 1}),
        ("json", "no json"),
        ("json", 5),
        ("comma_delimited_list", 5),
    ],
)
def test_property_of_wrong_type_is_refused(kind: str, given: Any) -> None:
    assert len(_errors(_evaluation(kind, {"p": given}))) == 1


def test_environment_default_satisfies_required_parameter() -> None:
    assert "required" in _errors(_evaluation("string", {}))[0]
    evaluation = _evaluation("string", {}, parameter_defaults={"p": "d"})
    assert _errors(evaluation) == []
    (output,) = evaluation.children["n"].outputs(Nothing())
    assert output.value == "d"


LATE = """
heat_template_version: 2021-04-16
parameters: {p: {type: string}}
conditions:
  given: {not: {equals: [{get_param: p}, ""]}}
  both: {and: [given, true]}
resources:
  with: {type: OS::Heat::None, condition: given}
  without: {type: OS::Heat::None, condition: {not: both}}
  value:
    type: OS::Heat::Value
    properties:
      value: [{if: [both, {get_resource: with}, {get_resource: without}]}, {if: [given, 1]}]
outputs:
  o: {condition: {or: [both, false]}, value: {get_attr: [value, value]}}
"""


def test_condition_may_depend_on_unknown_nested_parameter() -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "r": {"type": "OS::Heat::RandomString"},
            "n": {"type": "child.yaml", "properties": {"p": {"get_resource": "r"}}},
        },
    }
    evaluation = Evaluation(parse(template), with_helpers(files={"child.yaml": LATE}), TYPES)
    assert _errors(evaluation) == []
    child = evaluation.children["n"]
    assert child.names == ("with", "without", "value")  # whichever of them there will be
    assert unknown_in(child.definition("value", Nothing()).properties) is not None


@pytest.mark.parametrize(("given", "names"), [("x", ("with", "value")), ("", ("without", "value"))])
def test_condition_is_decided_once_parameter_is_known(given: str, names: tuple[str, ...]) -> None:
    evaluation = Evaluation(parse(LATE), with_helpers(parameters={"p": given}), TYPES)
    assert _errors(evaluation) == []
    assert evaluation.names == names


@pytest.mark.parametrize(("kind", "given"), [("string", {}), ("number", {"p": "x"})])
def test_parameter_without_value_is_reported_once(kind: str, given: dict[str, str]) -> None:
    template = parse(LATE.replace("type: string", f"type: {kind}"))
    evaluation = Evaluation(template, with_helpers(parameters=given), TYPES)
    [found] = [d for d in evaluation.validate() if d.severity is Severity.ERROR]
    assert found.path == ("parameters", "p")
