"""An evaluation that takes over from that of an earlier version, or from that of another stack, is
the same as one that does not.

Every part of a template and of its inputs changes at random, also between values that Python
takes for equal, and facts change from look to look.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from tests.evaluating import with_helpers

from stoker.engine.model.plans import Plan
from stoker.engine.model.records import Action, Resource, Status
from stoker.engine.planning.planner import Planner
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.tree import same
from stoker.resources.base.registry import Registry
from stoker.schema.resource_type import Call, ResourceType, StackFacts, Update
from stoker.schema.unknown import Unknown
from stoker.template.definition import Definition, Facts
from stoker.template.document import parse
from stoker.template.environment.environment import Environment, parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity
from stoker.template.evaluate.static_analysis import RecordedReferences

TYPES = Registry()
NAMES = ["r0", "r1", "r2", "r3", "r4"]
STACKS = ["OS::stack_name", "OS::stack_id", "OS::project_id"]
ATTRIBUTES = ["output", "value", "show", "which"]
TEXTS = ["a", "b", "1", "r0", "r1", "output"]
SCALARS: list[Any] = [*TEXTS, 0, 1, 1.0, 0.0, -0.0, True, False, None]
CHILDREN = [
    "heat_template_version: 2021-04-16\nparameters: {value: {type: string, default: x}}",
    "heat_template_version: 2021-04-16\nparameters: {value: {type: number, default: 1}}\n"  # noqa: ISC004
    "resources: {in: {type: OS::Heat::TestResource, properties: {value: {get_param: value}}}}\n"
    "outputs: {output: {value: {get_attr: [in, output]}}}",
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
        | st.builds(lambda f: {"get_file": f}, st.sampled_from(["f", "g"]))
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
                ["OS::Heat::TestResource", "OS::Heat::Value", "My::Type", "child.yaml", "Not::One"]
            )
        )
    }
    if draw(st.booleans()):
        body["properties"] = {"value": draw(VALUES)}
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
    {"f": st.sampled_from(TEXTS), "child.yaml": st.sampled_from(CHILDREN)}
)
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "resources": RESOURCES,
    "conditions": CONDITIONS,
    "outputs": OUTPUTS,
    "parameters": PARAMETERS,
    "files": FILES,
    "registry": REGISTRIES,
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
        environment=Environment(resource_registry=version["registry"]),
        files=version["files"],
        identity=Identity(stack_name=version["stack"]),
    )
    return Evaluation(parse(template), inputs, TYPES, earlier)


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


def plain(value: Any) -> Any:
    """A value as data that can be compared; types by their names, as each evaluation makes its own
    for the templates that stand for types.
    """
    if isinstance(value, ResourceType):
        return (type(value).__name__, value.type_name, dict(value.properties))
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Struct):
        return [plain(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def definitions(evaluated: Evaluation, facts: Facts) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in evaluated.names:
        try:
            found[name] = plain(evaluated.definition(name, facts))
        except DiagnosticError as error:
            found[name] = plain(error.diagnostics)
    return found


def everything(evaluated: Evaluation) -> Any:
    return plain(
        [
            list(evaluated.validate()),
            evaluated.dependencies,
            evaluated.attributes_used,
            evaluated.custom_checks(),
        ]
    )


def call_for(row: Resource, definition: Definition, changed: frozenset[str]) -> Call:
    return Call(
        stack=StackFacts("s", "stack", "project"),
        name=row.name,
        resource_id=row.id,
        token="",
        physical_name=row.name,
        properties=definition.properties,
        started_at=0.0,
        now=0.0,
        update=Update(row.properties, changed),
    )


def plan(evaluated: Evaluation, rows: tuple[Resource, ...]) -> Plan | Any:
    planner = Planner(rows, lambda row: row.physical_id, call_for)
    try:
        return planner.plan(evaluated)
    except DiagnosticError as error:
        return plain(error.diagnostics)


def rows_of(evaluated: Evaluation, facts: Facts) -> tuple[Resource, ...]:
    """Rows of resources that have been made as an evaluation wants them."""
    rows = []
    for name in evaluated.names:
        try:
            definition = evaluated.definition(name, facts)
        except DiagnosticError:
            continue
        row = Resource(
            id=f"{name}-row",
            stack_id="s",
            name=name,
            type_name=definition.type_name,
            token="",
            created_at=0.0,
            updated_at=0.0,
            action=Action.CREATE,
            status=Status.COMPLETE,
            physical_id=f"{name}-id",
            properties=definition.properties,
            metadata=definition.metadata,
            attributes=dict.fromkeys(ATTRIBUTES, "a"),
            dependencies=tuple(sorted(evaluated.dependencies[name])),
        )
        rows.append(row)
    return tuple(rows)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
@given(versions(), st.lists(FACTS, min_size=2, max_size=3))
def test_evaluation_with_predecessor_equals_a_fresh_one(
    given_versions: list[dict[str, Any]], looks: list[Known]
) -> None:
    earlier: Evaluation | None = None
    rows: tuple[Resource, ...] = ()
    for version in given_versions:
        taking, anew = evaluation(version, earlier), evaluation(version)
        assert same(everything(taking), everything(anew))
        for facts in looks:
            fresh = evaluation(version)
            assert same(definitions(taking, facts), definitions(fresh, facts))
            assert same(plain(taking.outputs(facts)), plain(fresh.outputs(facts)))
        if not taking.validate().errors:
            assert plan(taking, rows) == plan(anew, rows)
            rows = rows_of(taking, looks[-1])
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
    assert looked_at_again(analyses("1", "y", "1", first), first) == set("abcd")
    assert looked_at_again(analyses("1", "x", "2", first), first) == set("abcd")


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
