"""The facts that an evaluation knows before and during the creation of resources."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evaluating import with_helpers

from stoker.kernel.diagnostics import DiagnosticError, Severity
from stoker.resources.base.registry import Registry
from stoker.schema.unknown import Unknown, unknown_in
from stoker.template.document import parse
from stoker.template.environment.environment import Environment
from stoker.template.evaluate.evaluation import Evaluation

TYPES = Registry()


class Facts:
    """Resources that exist, by name, with their attributes; the others do not."""

    def __init__(self, **attributes: dict[str, Any]) -> None:
        self._attributes = attributes

    def reference(self, name: str) -> Any:
        return f"{name}-id" if name in self._attributes else Unknown(frozenset({name}))

    def attribute(self, name: str, attribute: str) -> Any:
        if name not in self._attributes:
            return Unknown(frozenset({name}))
        return self._attributes[name].get(attribute)


def evaluate(text: str, **inputs: Any) -> Evaluation:
    return Evaluation(
        parse(f"heat_template_version: 2021-04-16\n{text}"), with_helpers(**inputs), TYPES
    )


def codes(evaluation: Evaluation) -> list[str]:
    return [d.code for d in evaluation.validate() if d.severity is Severity.ERROR]


LAYERS = """
parameters: {wanted: {type: boolean, default: true}}
conditions: {c: {get_param: wanted}}
resources:
  a: {type: OS::Heat::Value, properties: {value: 1}}
  b: {type: OS::Heat::Value, properties: {value: {get_attr: [a, value]}}}
  c: {type: OS::Heat::Value, condition: c, properties: {value: [{get_resource: a}, {get_resource: b}]}}
  d: {type: OS::Heat::None, depends_on: [c]}
outputs:
  o: {value: {get_attr: [b, value]}}
"""  # noqa: E501


def test_needs_are_references_and_explicit_ones() -> None:
    assert evaluate(LAYERS).dependencies == {
        "a": frozenset(),
        "b": {"a"},
        "c": {"a", "b"},
        "d": {"c"},
    }


def test_a_disabled_resource_is_neither_there_nor_needed() -> None:
    evaluation = evaluate(LAYERS, parameters={"wanted": False})
    assert evaluation.names == ("a", "b", "d")
    assert evaluation.dependencies["d"] == frozenset()
    assert codes(evaluation) == []


LAZY = """
parameters: {{given: {{type: json, default: []}}}}
conditions:
  fails: {{not: {{equals: [{{get_param: nowhere}}, []]}}}}
  through: {{or: [fails, false]}}
  never: {{equals: [1, 2]}}
resources:
  a: {{type: OS::Heat::None}}
  {resource}
outputs:
  o: {{value: 1}}
  {output}
"""


@pytest.mark.parametrize(
    ("resource", "output"),
    [
        ("", ""),
        ("b: {type: OS::Heat::Value, properties: {value: {if: [never, {if: [fails, 1]}, 2]}}}", ""),
        ("b: {type: OS::Heat::Value, condition: never, properties: {value: {if: [fails, 1]}}}", ""),
        ("", "p: {condition: never, value: {if: [fails, 1, 2]}}"),
    ],
)
def test_condition_that_nothing_uses_is_only_warned_about(resource: str, output: str) -> None:
    evaluation = evaluate(LAZY.format(resource=resource, output=output))
    evaluation.resolved.section_diagnostics()  # as the engine does before any use
    found = evaluation.validate()
    assert [(d.place, d.severity) for d in found] == [
        ("conditions.fails.not.equals[0].get_param", Severity.WARNING),
        ("conditions.through.or[0]", Severity.WARNING),
    ]


@pytest.mark.parametrize(
    ("resource", "output"),
    [
        ("b: {type: OS::Heat::None, condition: fails}", ""),
        ("b: {type: OS::Heat::None, condition: through}", ""),
        ("b: {type: OS::Heat::None, condition: {not: through}}", ""),
        ("b: {type: OS::Heat::Value, properties: {value: {if: [never, 1, {if: [fails, 1]}]}}}", ""),
        ("", "p: {condition: fails, value: 1}"),
        ("", "p: {value: {if: [through, 1, 2]}}"),
    ],
)
def test_condition_that_is_used_rejects_the_template(resource: str, output: str) -> None:
    evaluation = evaluate(LAZY.format(resource=resource, output=output))
    evaluation.resolved.section_diagnostics()
    errors = [d.place for d in evaluation.validate() if d.severity is Severity.ERROR]
    assert "conditions.fails.not.equals[0].get_param" in errors


@pytest.mark.parametrize(
    "written",
    [
        "{equals: [1]}",
        "text",
        "{equalz: [1, 2]}",
        "unused",
        "{not: unused}",
        "{not: nowhere}",
        "{not: null}",
        "[1]",
        "5",
    ],
)
def test_condition_of_wrong_form_rejects_the_template_unused(written: str) -> None:
    evaluation = evaluate(f"conditions: {{unused: {written}}}\nresources: {{}}\n")
    assert len(codes(evaluation)) == 1


@pytest.mark.parametrize("written", ["null", "{not: null}"])
def test_resource_with_a_condition_of_null_is_refused(written: str) -> None:
    evaluation = evaluate(f"resources: {{a: {{type: OS::Heat::None, condition: {written}}}}}\n")
    assert len(codes(evaluation)) == 1


def test_condition_with_missing_parameter_names_it() -> None:
    evaluation = evaluate(
        "conditions: {c: {equals: [{get_param: p}, 1]}}\n"
        "resources: {a: {type: OS::Heat::None, condition: c}}\n"
    )
    [found] = [each for each in evaluation.validate() if each.place.startswith("conditions")]
    assert found.error_type.name == "UserParameterMissing"


def test_unused_condition_without_boolean_is_a_warning() -> None:
    evaluation = evaluate(
        "parameters: {p: {type: string, default: x}}\n"
        "conditions: {unused: {get_param: p}}\nresources: {}\n"
    )
    assert codes(evaluation) == []
    assert [d.code for d in evaluation.validate()] == ["bad-condition"]


def test_only_the_branch_that_is_taken_is_needed() -> None:
    evaluation = evaluate(
        "resources:\n"
        "  a: {type: OS::Heat::None}\n"
        "  b: {type: OS::Heat::Value, properties: {value: {if: [false, {get_resource: a}, 1]}}}\n"
    )
    assert evaluation.dependencies["b"] == frozenset()


def test_references_with_computed_names_are_needed() -> None:
    evaluation = evaluate(
        "parameters: {p: {type: string, default: a}}\n"
        "resources:\n"
        "  a: {type: OS::Heat::Value, properties: {value: 1}}\n"
        "  b: {type: OS::Heat::Value,"
        " properties: {value: {get_attr: [{get_param: p}, value]}}}\n"
    )
    assert evaluation.dependencies["b"] == {"a"}
    assert evaluation.attributes_used == {"a": {"value"}}


def test_missing_objects_are_unknown_until_they_exist() -> None:
    evaluation = evaluate(LAYERS)
    before = evaluation.definition("c", Facts(a={}))
    assert unknown_in(before.properties) == Unknown(frozenset({"b"}))
    after = evaluation.definition("c", Facts(a={}, b={}))
    assert after.properties["value"] == ["a-id", "b-id"]


@pytest.mark.parametrize(
    "call",
    [
        "{str_replace: {template: x, params: {a: UNKNOWN}}}",
        "{list_join: ['-', [a, UNKNOWN]]}",
        "{str_split: ['-', UNKNOWN]}",
        "{list_concat: [[a], UNKNOWN]}",
        "{list_concat_unique: [[a], UNKNOWN]}",
        "{map_merge: [{a: 1}, UNKNOWN]}",
        "{map_replace: [UNKNOWN, {}]}",
        "{repeat: {template: x, for_each: {x: UNKNOWN}}}",
        "{digest: [md5, UNKNOWN]}",
        "{yaql: {expression: $.data, data: UNKNOWN}}",
        "{filter: [[a], UNKNOWN]}",
        "{contains: [a, UNKNOWN]}",
        "{make_url: {host: UNKNOWN}}",
        "{get_file: UNKNOWN}",
        "{get_param: [j, UNKNOWN]}",
        "{get_attr: [a, value, UNKNOWN]}",
    ],
)
def test_functions_pass_on_what_is_unknown(call: str) -> None:
    text = call.replace("UNKNOWN", "{get_attr: [a, value]}")
    evaluation = evaluate(
        "parameters: {j: {type: json, default: {}}}\n"
        "resources:\n"
        "  a: {type: OS::Heat::Value, properties: {value: 1}}\n"
        f"  b: {{type: OS::Heat::Value, properties: {{value: {text}}}}}\n"
    )
    assert codes(evaluation) == []
    value = evaluation.definition("b", Facts()).properties["value"]
    assert unknown_in(value) == Unknown(frozenset({"a"}))


def test_findings_are_reported_together_with_lines_and_suggestions() -> None:
    evaluation = evaluate(
        "parameters: {port: {type: number}}\n"
        "resources:\n"
        "  a: {type: OS::Heat::Vlaue, properties: {value: 1}}\n"
        "  b: {type: OS::Heat::Value, properties: {valeu: 1}}\n"
        "  c: {type: OS::Heat::Value, properties: {value: [{get_attr: [bb, value]},"
        " {get_param: prot}]}}\n"
        "  d: {type: OS::Heat::None, depends_on: dd}\n"
        "outputs:\n"
        "  o: {value: {get_attr: [b, vaule]}}\n"
    )
    found = {
        (d.code, str(d.position), d.suggestion)
        for d in evaluation.validate()
        if d.severity is Severity.ERROR
    }
    assert found == {
        (
            "missing-parameter",
            "<template>:2:14",
            "give it with --parameter port=VALUE or in an environment",
        ),
        ("unknown-type", "<template>:4:7", 'did you mean "OS::Heat::Value"?'),
        ("unknown-property", "<template>:5:43", 'did you mean "value"?'),
        ("missing-property", "<template>:5:30", None),
        ("unknown-resource", "<template>:6:52", 'did you mean "b"?'),
        ("unknown-parameter", "<template>:6:77", 'did you mean "port"?'),
        ("unknown-resource", "<template>:7:29", 'did you mean "d"?'),
        ("unknown-attribute", "<template>:9:29", 'did you mean "value"?'),
    }


def test_a_circle_is_named() -> None:
    evaluation = evaluate(
        "resources:\n"
        "  a: {type: OS::Heat::Value, properties: {value: {get_attr: [b, value]}}}\n"
        "  b: {type: OS::Heat::Value, properties: {value: {get_attr: [a, value]}}}\n"
    )
    (finding,) = evaluation.validate().errors
    assert finding.error_type.name == "CircularDependencyException"
    assert "a -> b" in finding.message or "b -> a" in finding.message


def test_failed_output_has_error_and_spares_others() -> None:
    evaluation = evaluate(
        "outputs:\n  a: {value: {get_file: missing}}\n  b: {value: {digest: [md5, x]}}\n"
    )
    assert codes(evaluation) == []
    a, b = evaluation.outputs(Facts())
    assert a.error is not None
    assert "missing" in a.error
    assert (b.error, b.value) == (None, "9dd4e461268c8034f5c8564e155c67a6")


def test_definition_without_value_is_refused_with_its_position() -> None:
    evaluation = evaluate(
        "resources:\n"
        "  a: {type: OS::Heat::Value, properties: {value: x}}\n"
        "  b: {type: OS::Heat::Value, properties:"
        " {value: {str_split: ['-', {get_attr: [a, value]}, 3]}}}\n"
    )
    with pytest.raises(DiagnosticError) as caught:
        evaluation.definition("b", Facts(a={"value": "x-y"}))
    assert caught.value.first.place == "resources.b.properties.value.str_split[2]"


def test_values_that_grow_without_end_are_refused() -> None:
    evaluation = evaluate(
        "resources:\n"
        "  a: {type: OS::Heat::Value, properties: {value: x}}\n"
        "  b: {type: OS::Heat::Value, properties: {value: {get_attr: [a, value]}}}\n"
    )
    value: Any = "x"
    for _ in range(40):
        value = [value, value]
    with pytest.raises(DiagnosticError) as caught:
        evaluation.definition("b", Facts(a={"value": value}))
    assert caught.value.first.code == "too-large"


CHILD = """
heat_template_version: 2021-04-16
parameters: {size: {type: number, constraints: [{range: {max: 5}}]}}
resources: {inner: {type: OS::Heat::Value, properties: {value: {get_param: size}}}}
outputs: {size: {value: {get_param: size}}}
"""


def test_template_is_a_type_with_parameters_and_outputs() -> None:
    evaluation = evaluate(
        "resources: {n: {type: child.yaml, properties: {size: 3}}}\n"
        "outputs: {o: {value: {get_attr: [n, size]}}, i: {value: {get_attr: [n, resource.inner]}}}",
        files={"child.yaml": CHILD},
    )
    assert codes(evaluation) == []
    type_ = evaluation.types["n"]
    assert type_.properties["size"].required
    assert list(type_.attributes) == ["size"]
    assert evaluation.children["n"].parameters["size"] == 3
    assert evaluation.attributes_used == {"n": {"size", "resource.inner"}}


def test_nested_template_errors_name_file_and_line() -> None:
    evaluation = evaluate(
        "resources: {n: {type: child.yaml, properties: {size: 3}}}",
        files={"child.yaml": CHILD.replace("OS::Heat::Value", "OS::Heat::Vlaue")},
    )
    (finding,) = evaluation.validate().errors
    assert str(finding.position) == "child.yaml:4:21"
    assert finding.suggestion == 'did you mean "OS::Heat::Value"?'


def test_files_are_found_relative_to_their_template() -> None:
    evaluation = evaluate(
        "resources: {n: {type: lib/outer.yaml}}",
        files={
            "lib/outer.yaml": "heat_template_version: 2021-04-16\n"
            "resources: {m: {type: inner.yaml}}\n"
            "outputs: {o: {value: {get_file: motd}}}\n",
            "lib/inner.yaml": "heat_template_version: 2021-04-16\n",
            "lib/motd": "hello",
        },
    )
    assert codes(evaluation) == []
    (output,) = evaluation.children["n"].outputs(Facts())
    assert output.value == "hello"


def test_template_replacing_a_type_must_provide_its_attributes() -> None:
    evaluation = evaluate(
        "resources: {n: {type: OS::Heat::Value, properties: {value: 1}}}",
        files={"child.yaml": CHILD},
        environment=Environment(resource_registry={"OS::Heat::Value": "child.yaml"}),
    )
    found = evaluation.validate().errors
    assert {d.code for d in found} == {"facade-mismatch"}
    missing = "Attribute value for facade OS::Heat::Value missing in provider"
    assert missing in [str(d) for d in found]


def test_templates_are_nested_to_a_bounded_depth() -> None:
    text = "heat_template_version: 2021-04-16\nresources: {n: {type: self.yaml}}\n"
    evaluation = evaluate("resources: {n: {type: self.yaml}}", files={"self.yaml": text})
    assert codes(evaluation) == ["nested-too-deep"]
