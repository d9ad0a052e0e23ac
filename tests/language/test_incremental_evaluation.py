"""An incremental evaluation gives the same results as one from scratch.

It reuses parts of the evaluation of an earlier version, or of another stack. Every part of a
template and of its inputs changes at random, also between values that Python takes for equal, and
facts change between definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.evaluating import with_helpers

from stoker.engine.planning.verification import comparable
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.tree import same
from stoker.resources.base.registry import Registry
from stoker.schema.unknown import Unknown
from stoker.template.definition import Facts, TooMuchWorkError
from stoker.template.document import parse
from stoker.template.environment.environment import Environment, parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity
from stoker.template.evaluate.static_analysis import RecordedReferences
from stoker.template.revision import revised

TYPES = Registry()
NAMES = ["r0", "r1", "r2", "r3", "r4"]
STACKS = ["OS::stack_name", "OS::stack_id", "OS::project_id"]
ATTRIBUTES = ["output", "value", "show", "which"]
TEXTS = ["a", "b", "1", "r0", "r1", "output"]
SCALARS: list[Any] = [*TEXTS, 0, 1, 1.0, 0.0, -0.0, True, False, None]
CHILDREN = [
    "heat_template_version: 2021-04-16\nparameters: {value: {type: string, default: x}}",
    "heat_template_version: 2021-04-16\nparameters: {value: {type: number, default: 1}}\n"  # noqa: ISC004 - one text
    "resources: {in: {type: OS::Heat::TestResource, properties: {value: {get_param: value}}}}\n"
    "outputs: {output: {value: {get_attr: [in, output]}}}",
    """
heat_template_version: 2021-04-16
parameters: {value: {type: json, default: {}}, p1: {type: string}}
resources: {in: {type: inner.yaml, properties: {value: {get_param: p1}}}}
""",
    "parameter_defaults: {value: x}",
]


def _calls(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    name = st.sampled_from(NAMES) | st.builds(
        lambda p: {"get_param": p}, st.sampled_from(["p0", "p1"])
    )
    path = st.sampled_from(ATTRIBUTES) | inner
    return (
        st.builds(lambda p: {"get_param": p}, st.sampled_from(["p0", "p1", "p2", *STACKS, "none"]))
        | st.builds(lambda n: {"get_resource": n}, name | inner)
        | st.builds(lambda n, a: {"get_attr": [n, a]}, name | inner, path)
        | st.builds(lambda c, a, b: {"if": [c, a, b]}, _conditions(), inner, inner)
        | st.builds(lambda f: {"get_file": f}, st.sampled_from(["f", "g"]) | inner)
        # While the list is unknown, the repeated part is not evaluated.
        | st.builds(lambda v, t: {"repeat": {"for_each": {"%": v}, "template": t}}, inner, inner)
        | st.builds(lambda v: {"str_replace": {"template": "%v", "params": {"%v": v}}}, inner)
        | st.builds(lambda a, b: {"k": a, "l": b}, inner, inner)
        | st.lists(inner, max_size=2)
    )


def _conditions() -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [
            "c0",
            "c1",
            {"equals": [{"get_param": "p1"}, "a"]},
            {"equals": [{"get_param": "OS::stack_name"}, "r0"]},
            {"not": "c0"},
            "none",
            True,
        ]
    )


VALUES = st.recursive(st.sampled_from(SCALARS), _calls, max_leaves=4)


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """A resource."""
    body: dict[str, Any] = {
        "type": draw(
            st.sampled_from(
                [
                    "OS::Heat::TestResource",
                    "OS::Heat::Value",
                    "OS::Heat::None",
                    "My::Type",
                    "child.yaml",
                    "Not::One",
                ]
            )
        )
    }
    if draw(st.booleans()):
        body["properties"] = {"value": draw(VALUES)}
        if body["type"] == "OS::Heat::TestResource" and draw(st.booleans()):
            body["properties"]["client_name"] = draw(VALUES)
    if draw(st.booleans()):
        body["metadata"] = {"m": draw(VALUES)}
    if draw(st.integers(0, 3)) == 0:
        body["depends_on"] = draw(st.lists(st.sampled_from([*NAMES, "none"]), max_size=2))
    if draw(st.integers(0, 3)) == 0:
        body["condition"] = draw(_conditions())
    return body


REGISTRIES = st.sampled_from(
    [
        {"My::Type": "OS::Heat::TestResource"},
        {"My::Type": "OS::Heat::Value"},
        {"My::Type": "child.yaml"},
        {"My::Type": "OS::Heat::Value", "resources": {"r1": {"My::Type": "child.yaml"}}},
        {"My::Type": "OS::Heat::Value", "resources": {"r*": {"restricted_actions": "update"}}},
    ]
)
RESOURCES = st.dictionaries(st.sampled_from(NAMES), bodies())
PARAMETERS = st.fixed_dictionaries(
    {"p0": st.sampled_from(TEXTS), "p1": st.sampled_from(TEXTS), "p2": st.sampled_from(SCALARS)}
)
CONDITIONS = st.fixed_dictionaries(
    {
        "c0": st.sampled_from(
            [
                True,
                {"equals": [{"get_param": "p0"}, "a"]},
                {"equals": [{"get_param": "OS::stack_name"}, "r0"]},
            ]
        ),
        "c1": st.sampled_from([{"not": "c0"}, {"equals": [{"get_param": "p2"}, 1]}]),
    }
)
OUTPUTS = st.dictionaries(
    st.sampled_from(["o", "q"]), st.fixed_dictionaries({"value": VALUES}), max_size=2
)
FILES = st.fixed_dictionaries(
    {
        "f": st.sampled_from(TEXTS),
        "child.yaml": st.sampled_from(CHILDREN),
        "inner.yaml": st.sampled_from(CHILDREN[:2]),
        "environment.yaml": st.sampled_from(TEXTS),
    }
)
DEFAULTS = st.dictionaries(st.sampled_from(["p1", "value", "other"]), st.sampled_from(SCALARS))
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "resources": RESOURCES,
    "conditions": CONDITIONS,
    "outputs": OUTPUTS,
    "parameters": PARAMETERS,
    "files": FILES,
    "registry": REGISTRIES,
    "defaults": DEFAULTS,
    "stack": st.sampled_from(["r0", "other"]),
}


@st.composite
def versions(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Versions of a stack, each the one before with some parts of it changed."""
    now = {part: draw(strategy) for part, strategy in PARTS.items()}
    found = [now]
    for _ in range(draw(st.integers(1, 2))):
        now = dict(now)
        for part in draw(st.sets(st.sampled_from(list(PARTS)), max_size=2)):
            now[part] = draw(PARTS[part])
        changed = draw(st.dictionaries(st.sampled_from(NAMES), bodies(), max_size=2))
        now["resources"] = {**now["resources"], **changed}
        found.append(now)
    return found


def evaluation(version: Mapping[str, Any], earlier: Evaluation | None = None) -> Evaluation:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {
            "p0": {"type": "string"},
            "p1": {"type": "string", "default": "a"},
            "p2": {"type": "json", "default": {"a": 1}},
        },
        "conditions": version["conditions"],
        "resources": version["resources"],
        "outputs": version["outputs"],
    }
    inputs = with_helpers(
        parameters={**version["parameters"], "p2": {"a": version["parameters"]["p2"]}},
        environment=Environment(
            resource_registry=version["registry"], parameter_defaults=version["defaults"]
        ),
        files=version["files"],
        identity=Identity(stack_name=version["stack"]),
    )
    known = None if earlier is None else revised(earlier.template, template)
    return Evaluation(known or parse(template), inputs, TYPES, earlier)


class Known:
    """Facts on resources that exist, each attribute with the same value."""

    def __init__(self, names: set[str], value: Any) -> None:
        self._names = names
        self._value = value

    def reference(self, name: str) -> Any:
        return f"{name}-id" if name in self._names else Unknown(frozenset({name}))

    def attribute(self, name: str, attribute: str) -> Any:
        return self._value if name in self._names else Unknown(frozenset({name}))


FACTS = st.builds(Known, st.sets(st.sampled_from(NAMES)), st.sampled_from([*SCALARS, [], {"a": 1}]))


def definitions(evaluated: Evaluation, facts: Facts, *, light: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in evaluated.names:
        with suppress(TooMuchWorkError):
            try:
                found[name] = comparable(evaluated.definition(name, facts, light=light))
            except DiagnosticError as error:
                found[name] = comparable(error.diagnostics)
    return found


def anew(version: Mapping[str, Any]) -> Evaluation:
    """An evaluation that makes each definition from the whole resource."""
    found = evaluation(version)
    for analysis in found.analyses.values():
        analysis.latest, analysis.unknown_properties = None, ()
    return found


def everything(evaluated: Evaluation) -> Any:
    return comparable(
        [
            list(evaluated.validate()),
            evaluated.dependencies,
            evaluated.attributes_used,
            evaluated.custom_checks(),
            {name: everything(child) for name, child in evaluated.children.items()},
        ]
    )


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
@given(versions(), st.lists(FACTS, min_size=2, max_size=3))
def test_evaluation_with_predecessor_equals_a_fresh_one(
    given_versions: list[dict[str, Any]], looks: list[Known]
) -> None:
    earlier: Evaluation | None = None
    for version in given_versions:
        taking, fresh = evaluation(version, earlier), anew(version)
        assert same(everything(taking), everything(fresh))
        for facts in looks:
            expected = definitions(anew(version), facts)
            assert same(definitions(taking, facts), expected)
            light = definitions(evaluation(version), facts, light=True)
            assert same(light, {name: expected[name] for name in light})
            assert same(comparable(taking.outputs(facts)), comparable(fresh.outputs(facts)))
        earlier = taking


SURVEYED = """
heat_template_version: 2021-04-16
parameters: {p: {type: string}, other: {type: string}}
conditions: {c: {equals: [{get_param: other}, "1"]}}
resources:
  a: {type: OS::Heat::Value, properties: {value: VALUE}}
  b: {type: OS::Heat::Value, properties: {value: {get_param: p}}}
  c: {type: OS::Heat::Value, properties: {value: {if: [c, 1, 2]}}}
  d: {type: OS::Heat::Value, properties: {value: {get_attr: [a, value]}}}
"""


def test_only_changed_resources_are_analysed_again() -> None:
    def analyses(value: str, p: str, other: str, earlier: Evaluation | None = None) -> Evaluation:
        inputs = with_helpers(parameters={"p": p, "other": other})
        return Evaluation(parse(SURVEYED.replace("VALUE", value)), inputs, TYPES, earlier)

    def looked_at_again(now: Evaluation, before: Evaluation) -> set[str]:
        return {n for n, analysis in now.analyses.items() if before.analyses[n] is not analysis}

    first = analyses("1", "x", "1")
    assert first.analyses
    assert looked_at_again(analyses("1", "x", "1", first), first) == set()
    assert looked_at_again(analyses("true", "x", "1", first), first) == {"a"}
    assert looked_at_again(analyses("1", "y", "1", first), first) == {"b"}
    assert looked_at_again(analyses("1", "x", "2", first), first) == {"c"}


def using(attribute: str, *others: str, shown: str = "mtu") -> str:
    """A template whose resource "b", and others, use attributes of "a", as an output does."""
    names = {"b": attribute, **{f"r{each}": each for each in others}}
    lines = [
        f"  {name}: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [a, {used}]}}}}}}"
        for name, used in names.items()
    ]
    head = "heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Neutron::Net}"
    return "\n".join([head, *lines, f"outputs: {{o: {{value: {{get_attr: [a, {shown}]}}}}}}"])


def test_used_attributes_are_those_of_the_present_template() -> None:
    earlier = None
    for text, used in (
        (using("status"), {"status", "mtu"}),
        (using("status", "status"), {"status", "mtu"}),
        (using("name", "status"), {"name", "status", "mtu"}),
        (using("name"), {"name", "mtu"}),
        (using("status"), {"status", "mtu"}),
        (using("status", shown="name"), {"status", "name"}),
        (using("status", shown="name") + "\ndescription: changed", {"status", "name"}),
    ):
        earlier = Evaluation(parse(text), with_helpers(), TYPES, earlier)
        assert earlier.attributes_used == {"a": used}


@pytest.mark.parametrize(
    "lines",
    [
        ["  x: {type: OS::Heat::Value, properties: {value: {get_attr: [a, mtu]}}}",
         "  y: {type: OS::Heat::Value, properties: {value: {get_attr: [b, mtu]}}}"],
        ["outputs:", "  x: {value: {get_attr: [a, mtu]}}", "  y: {value: {get_attr: [b, mtu]}}"],
    ],
)  # fmt: skip
def test_used_attributes_have_order_of_the_template(lines: list[str]) -> None:
    head = ["heat_template_version: 2021-04-16", "resources:"]
    head += [f"  {name}: {{type: OS::Neutron::Net}}" for name in "ab"]
    one, other = ([*head, *lines[:-2], *some] for some in (lines[-2:], lines[:-3:-1]))
    before = Evaluation(parse("\n".join(one)), with_helpers(), TYPES)
    assert [*before.attributes_used] == ["a", "b"]
    after = Evaluation(parse("\n".join(other)), with_helpers(), TYPES, before)
    assert [*after.attributes_used] == ["b", "a"]


NEEDED_TWICE = """
heat_template_version: 2021-04-16
resources:
  a: {type: OS::Heat::TestResource}
  b:
    type: OS::Heat::TestResource
    properties: {value: {get_attr: [a, output]}, client_name: c}
    metadata: {m: {get_attr: [a, output]}}
"""


def test_light_definition_of_type_without_properties_has_none() -> None:
    text = """
heat_template_version: 2021-04-16
resources:
  a: {type: OS::Heat::TestResource}
  b: {type: OS::Heat::None, properties: {any: {get_attr: [a, output]}}}
"""
    evaluated = Evaluation(parse(text), with_helpers(), TYPES)
    assert evaluated.definition("b", Known({"a"}, "x"), light=True).properties == {}


def test_light_definition_has_values_in_all_parts() -> None:
    evaluated = Evaluation(parse(NEEDED_TWICE), with_helpers(), TYPES)
    made = evaluated.definition("b", Known({"a"}, "x"), light=True)
    assert (made.properties["value"], made.properties["client_name"]) == ("x", "c")
    assert made.metadata == {"m": "x"}


NAMED_BY_ATTRIBUTE = """
heat_template_version: 2021-04-16
resources:
  a: {type: OS::Heat::TestResource}
  b: {type: OS::Heat::Value, properties: {value: {get_file: {get_attr: [a, output]}}}}
"""


def test_file_that_only_facts_name_is_noticed() -> None:
    def values(content: str, earlier: Evaluation | None = None) -> tuple[Evaluation, Any]:
        inputs = with_helpers(files={"f.txt": content})
        now = Evaluation(parse(NAMED_BY_ATTRIBUTE), inputs, TYPES, earlier)
        return now, now.definition("b", Known({"a"}, "f.txt")).properties["value"]

    first, value = values("x")
    assert value == "x"
    assert values("y", first)[1] == "y"


def test_evaluations_with_common_analyses_read_their_own_files() -> None:
    def evaluated(content: str, earlier: Evaluation | None = None) -> Evaluation:
        inputs = with_helpers(files={"f.txt": content})
        found = Evaluation(parse(NAMED_BY_ATTRIBUTE), inputs, TYPES, earlier)
        assert found.validate() == []
        return found

    def value(of: Evaluation) -> Any:
        return of.definition("b", Known({"a"}, "f.txt")).properties["value"]

    first = evaluated("x")
    second = evaluated("y", first)
    assert [value(each) for each in (second, first, second)] == ["y", "x", "y"]


def test_evaluations_with_common_analyses_read_their_own_time() -> None:
    text = NAMED_BY_ATTRIBUTE.replace(
        "{get_file: {get_attr: [a, output]}}",
        "{yaql: {expression: str(random()) + $.data, data: {get_attr: [a, output]}}}",
    )

    def evaluated(earlier: Evaluation | None = None) -> Evaluation:
        found = Evaluation(parse(text), with_helpers(), TYPES, earlier)
        assert found.validate() == []
        return found

    def value(of: Evaluation) -> Any:
        return of.definition("b", Known({"a"}, "x")).properties["value"]

    first = evaluated()
    second = evaluated(first)
    assert value(second) == value(second)
    assert value(second) != value(first)


def test_dependency_that_is_enabled_again_is_noticed() -> None:
    text = """
    heat_template_version: 2021-04-16
    parameters: {p: {type: boolean}}
    conditions: {c: {get_param: p}}
    resources:
      a: {type: OS::Heat::None, condition: c}
      b: {type: OS::Heat::None, depends_on: a}
    """

    def evaluated(p: bool, earlier: Evaluation | None = None) -> Evaluation:
        return Evaluation(parse(text), with_helpers(parameters={"p": p}), TYPES, earlier)

    first = evaluated(False)
    assert first.dependencies == {"b": frozenset()}
    assert evaluated(True, first).dependencies == {"a": frozenset(), "b": frozenset({"a"})}


def test_users_of_changed_file_are_analysed_again() -> None:
    text = """
    heat_template_version: 2021-04-16
    resources:
      a: {type: OS::Heat::Value, properties: {value: {get_file: a.txt}}}
      b: {type: OS::Heat::Value, properties: {value: {get_file: b.txt}}}
    """

    def evaluated(files: dict[str, str], earlier: Evaluation | None = None) -> Evaluation:
        return Evaluation(parse(text), with_helpers(files=files), TYPES, earlier)

    first = evaluated({"a.txt": "1", "b.txt": "1"})
    assert first.analyses
    second = evaluated({"a.txt": "2", "b.txt": "1"}, first)
    assert second.analyses["a"] is not first.analyses["a"]
    assert second.analyses["b"] is first.analyses["b"]


def test_stacks_share_evaluations_independent_of_identity() -> None:
    text = """
heat_template_version: 2021-04-16
conditions:
  own: {equals: [{get_param: "OS::stack_name"}, one]}
resources:
  a: {type: OS::Heat::Value, properties: {value: 1}}
  b: {type: OS::Heat::Value, properties: {value: {get_param: "OS::stack_name"}}}
  c: {type: OS::Heat::Value, properties: {value: {get_attr: [a, value]}}}
"""

    def of(stack: str, template: str, earlier: Evaluation | None = None) -> Evaluation:
        inputs = with_helpers(identity=Identity(stack_name=stack))
        return Evaluation(parse(template), inputs, TYPES, earlier)

    one = of("one", text)
    made = one.definition("c", Known({"a"}, "of one"))
    two = of("two", text, one)
    assert two.analyses["a"] is one.analyses["a"]
    assert two.analyses["b"] is not one.analyses["b"]
    assert two.definition("b", Known(set(), 0)).properties["value"] == "two"
    assert two.analyses["c"].definition is one.analyses["c"].definition
    assert two.definition("c", Known({"a"}, "of one")) is not made
    conditional = text.replace("value: 1", "value: {if: [own, 1, 2]}")
    one = of("one", conditional)
    assert one.definition("a", Known(set(), 0)).properties["value"] == 1
    assert of("two", conditional, one).definition("a", Known(set(), 0)).properties["value"] == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.0, -0.0), (1, 1.0), (1, True), ([0.0], [-0.0]), ({"a": 1}, {"a": 1.0}), ((1,), [1])],
)
def test_values_that_functions_distinguish_are_not_same(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert same(one, one)


@pytest.mark.parametrize("value", ["{get_resource: nowhere}", "{str_split: [1, 2, 3, 4]}"])
def test_resource_with_findings_is_analysed_again(value: str) -> None:
    text = f"""
heat_template_version: 2021-04-16
resources:
  a: {{type: OS::Heat::Value, properties: {{value: {value}}}}}
"""
    first = Evaluation(parse(text), with_helpers(), TYPES)
    again = Evaluation(parse(text), with_helpers(), TYPES, first)
    assert [found.message for found in first.validate().errors]
    assert first.analyses["a"].diagnostics
    assert again.analyses["a"] is not first.analyses["a"]


def test_changed_restriction_of_resource_takes_effect() -> None:
    text = "heat_template_version: 2021-04-16\nresources:\n"
    text += "  a: {type: OS::Heat::Value, properties: {value: x}}\n"
    marks = {"resource_registry": {"resources": {"a": {"restricted_actions": "update"}}}}
    first = Evaluation(parse(text), with_helpers(), TYPES)
    facts = RecordedReferences()
    assert first.definition("a", facts).restricted == frozenset()
    fixed = with_helpers(environment=parse_environment(marks))
    again = Evaluation(parse(text), fixed, TYPES, first)
    assert again.definition("a", facts).restricted == {"update"}


NESTING = """
heat_template_version: 2021-04-16
resources:
  a: {type: a.yaml}
  b: {type: b.yaml}
"""
NESTED = """
heat_template_version: 2021-04-16
parameters: {NAME: {type: string, default: x}}
resources: {in: {type: OS::Heat::Value, properties: {value: {get_param: NAME}}}}
"""


def parent_of_two(earlier: Evaluation | None = None, **inputs: Any) -> Evaluation:
    files = {"a.yaml": NESTED.replace("NAME", "a"), "b.yaml": NESTED.replace("NAME", "b")}
    defaults = Environment(parameter_defaults=inputs.get("defaults", {}))
    found = with_helpers(files={**files, **inputs.get("files", {})}, environment=defaults)
    return Evaluation(parse(NESTING), found, TYPES, earlier)


def reused_names(now: Evaluation, before: Evaluation) -> set[str]:
    """Return the resources with the same types and analyses, also in their nested stacks."""
    return {
        name
        for name in now.names
        if now.types[name] is before.types[name]
        and now.analyses[name] is before.analyses[name]
        and now.children[name].analyses["in"] is before.children[name].analyses["in"]
    }


@pytest.mark.parametrize(
    ("before", "after", "unchanged"),
    [
        ({}, {}, {"a", "b"}),
        ({}, {"defaults": {"other": 1}}, {"a", "b"}),
        ({}, {"defaults": {"a": "1"}}, {"b"}),
        ({"files": {"e.yaml": "x: 1"}}, {"files": {"e.yaml": "x: 2"}}, {"a", "b"}),
        ({"files": {"e.yaml": "x: 1"}}, {"files": {"e.yaml": NESTED}}, set()),
        ({}, {"files": {"e.yaml": "x: 1"}}, set()),
    ],
)
def test_change_leaves_nested_stacks_that_cannot_use_it(
    before: Any, after: Any, unchanged: set[str]
) -> None:
    first = parent_of_two(**before)
    assert not first.validate().errors
    assert all(child.analyses for child in first.children.values())
    assert reused_names(parent_of_two(first, **after), first) == unchanged


def test_default_decides_whether_property_is_required() -> None:
    files = {"a.yaml": NESTED.replace("NAME", "a").replace(", default: x", "")}
    first = parent_of_two(files=files, defaults={"a": "1"})
    assert not first.validate().errors
    for now in (parent_of_two(first, files=files), parent_of_two(files=files)):
        assert any("Property a not assigned" in each.message for each in now.validate().errors)


def test_nested_stack_with_same_inputs_is_evaluated_once() -> None:
    first = parent_of_two()
    assert all(child.analyses for child in first.children.values())
    again = parent_of_two(first)
    assert {name for name in again.names if again.children[name] is first.children[name]} == {
        "a",
        "b",
    }


LATE = {"get_attr": ["c", "value"]}
CHANCE = {"yaql": {"expression": "random() > 2"}}
LUCKY: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "conditions": {"c": CHANCE},
    "resources": {
        "a": {"type": "OS::Heat::Value", "properties": {"value": CHANCE}},
        "b": {"type": "OS::Heat::Value", "properties": {"value": {"if": ["c", 1, 2]}}},
        "c": {"type": "OS::Heat::Value", "properties": {"value": 1}},
        "late": {
            "type": "OS::Heat::Value",
            "properties": {"value": {"yaql": {"expression": "$.data > random()", "data": LATE}}},
        },
    },
}


def test_values_of_chance_are_evaluated_again() -> None:
    def evaluated(earlier: Evaluation | None = None) -> Evaluation:
        found = Evaluation(parse(LUCKY), with_helpers(), TYPES, earlier)
        assert not found.validate().errors
        found.definition("late", Known({"c"}, 1))
        return found

    first = evaluated()
    second = evaluated(first)
    again = {name for name in first.names if first.analyses[name] is not second.analyses[name]}
    assert again == {"a", "b", "late"}


@pytest.mark.parametrize(("expression", "changes"), [("random() > 2", True), ("1 > 2", False)])
def test_nested_stack_with_chance_is_evaluated_again(expression: str, changes: bool) -> None:
    nested = LUCKY["resources"]["a"] | {
        "properties": {"value": {"yaql": {"expression": expression}}}
    }
    files = {"a.yaml": str({"heat_template_version": "2021-04-16", "resources": {"in": nested}})}
    first = parent_of_two(files=files)
    assert not first.validate().errors
    again = parent_of_two(first, files=files)
    assert (again.children["a"] is not first.children["a"]) is changes
    assert again.children["b"] is first.children["b"]


def joining(resources: int) -> dict[str, Any]:
    """Resources whose texts take 1 MB each of the budget of an evaluation."""
    text = {"list_join": ["", [{"get_param": "p"}, "x"]]}
    body = {"type": "OS::Heat::Value", "properties": {"value": text}}
    return {f"r{number}": body for number in range(resources)}


def nesting(resources: int) -> dict[str, Any]:
    return {f"r{number}": {"type": f"large{number}.yaml"} for number in range(resources)}


@pytest.mark.parametrize(("resources", "most"), [(joining, 20), (nesting, 10)])
def test_growing_stack_meets_limits_of_fresh_one(
    resources: Callable[[int], dict[str, Any]], most: int
) -> None:
    members = {f"in{number}": {"type": "OS::Heat::None"} for number in range(1000)}
    large = str({"heat_template_version": "2021-04-16", "resources": members})
    files = {f"large{number}.yaml": large for number in range(most)}

    def refused(number: int, earlier: Evaluation | None = None) -> tuple[Evaluation, int]:
        text = {"heat_template_version": "2021-04-16", "parameters": {"p": {"type": "string"}}}
        inputs = with_helpers(files=files, parameters={"p": "x" * 1_000_000})
        template = parse({**text, "resources": resources(number)})
        found = Evaluation(template, inputs, TYPES, earlier)
        return found, len(found.validate().errors)

    earlier = None
    for number in range(1, most):
        earlier, found = refused(number, earlier)
        assert found == refused(number)[1]
    assert found > 0
