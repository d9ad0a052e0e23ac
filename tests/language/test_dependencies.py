"""A definition depends on all its references, at any depth and in any function."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine_world import Lab, in_lab, template, thing
from tests.evaluating import with_helpers

from stoker.kernel.diagnostics import Severity
from stoker.resources.base.registry import Registry
from stoker.schema.unknown import Unknown
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation

TYPES = Registry()
CALM = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=200)
NAMES = [f"r{number}" for number in range(6)]
NAME = st.sampled_from(NAMES)
INDEX = st.sampled_from([0, "key", "a b"])

Value = st.SearchStrategy[Any]


def call(name: str, arguments: Value) -> Value:
    return arguments.map(lambda value: {name: value})


def hot(inner: Value) -> Value:
    """Calls of every function of HOT, all of whose values come from resources."""
    unknown = inner
    several = st.lists(unknown, min_size=1, max_size=3)
    nested = st.dictionaries(st.sampled_from("ab"), unknown | several, min_size=1)
    text = st.just("x")
    return st.one_of(
        call("get_attr", st.tuples(NAME, st.just("value"), unknown, INDEX).map(list)),
        call("get_attr", st.tuples(NAME, unknown, INDEX).map(list)),
        call("get_attr", st.tuples(NAME, st.just("value"), INDEX, unknown).map(list)),
        call("get_param", st.tuples(st.just("data"), unknown).map(list)),
        call("get_file", unknown),
        call("list_join", st.tuples(text | unknown, unknown | several).map(list)),
        call("list_concat", several),
        call("list_concat_unique", several),
        call("str_split", st.tuples(text | unknown, text, unknown).map(list)),
        call("map_merge", several),
        call("map_replace", st.tuples(unknown, st.just({"keys": {"a": "b"}})).map(list)),
        call(
            "map_replace",
            st.fixed_dictionaries({"a": text}).flatmap(
                lambda known: unknown.map(lambda value: [known, {"values": {"x": value}}])
            ),
        ),
        call("digest", st.tuples(st.just("md5"), unknown).map(list)),
        call("contains", st.tuples(text | unknown, unknown).map(list)),
        call("filter", st.tuples(unknown, several).map(list)),
        call("if", st.tuples(st.sampled_from(["yes", "no"]), unknown, unknown).map(list)),
        call("make_url", st.fixed_dictionaries({"host": unknown, "path": text | unknown})),
        call("yaql", st.fixed_dictionaries({"expression": text | unknown, "data": unknown})),
        *(
            call(
                name,
                st.fixed_dictionaries(
                    {"template": text | unknown, "params": st.fixed_dictionaries({"x": unknown})}
                ),
            )
            for name in ("str_replace", "str_replace_strict", "str_replace_vstrict")
        ),
        call(
            "repeat",
            st.fixed_dictionaries(
                {"for_each": st.fixed_dictionaries({"%v%": unknown | several}), "template": unknown}
            ),
        ),
        call("yaql", st.fixed_dictionaries({"expression": text, "data": nested})),
    )


def cfn(inner: Value) -> Value:
    """Return calls of every function of CloudFormation templates."""
    several = st.lists(inner, min_size=1, max_size=3)
    text = st.just("x")
    return st.one_of(
        call("Fn::GetAtt", st.tuples(NAME, inner).map(list)),
        call("Fn::Join", st.tuples(text | inner, several).map(list)),
        call("Fn::Select", st.tuples(inner | st.just(0), inner).map(list)),
        call("Fn::Split", st.tuples(text, inner).map(list)),
        call("Fn::Replace", st.tuples(st.fixed_dictionaries({"x": inner}), text | inner).map(list)),
        call("Fn::Base64", inner),
        call("Fn::GetAZs", inner),
        call("Fn::FindInMap", st.tuples(st.just("m"), inner, inner).map(list)),
        call("Fn::MemberListToMap", st.tuples(text, text, several).map(list)),
        call("Fn::If", st.tuples(st.sampled_from(["yes", "no"]), inner, inner).map(list)),
        call(
            "Fn::Sub",
            st.tuples(
                st.lists(NAME, min_size=1).map(
                    lambda names: "-".join(f"${{{n}.value}}" for n in names)
                ),
                st.fixed_dictionaries({"x": inner}),
            ).map(list),
        ),
        call("Fn::Sub", NAME.map(lambda name: f"a ${{{name}}} b")),
        call("Fn::ToJsonString", several),
        call("Fn::Length", inner),
    )


HOT = st.recursive(
    st.one_of(
        call("get_resource", NAME),
        call("get_attr", st.tuples(NAME, st.just("value")).map(list)),
    ),
    hot,
    max_leaves=6,
)
CFN = st.recursive(
    st.one_of(call("Ref", NAME), call("Fn::GetAtt", st.tuples(NAME, st.just("value")).map(list))),
    cfn,
    max_leaves=6,
)


def referred(snippet: Any) -> set[str]:
    """The resources that a snippet names, but for the branches that are not chosen."""
    if isinstance(snippet, list):
        return set().union(*map(referred, snippet))
    if not isinstance(snippet, dict):
        return set()
    found: set[str] = set()
    for key, value in snippet.items():
        match key:
            case "get_resource" | "Ref":
                found.add(value)
            case "get_attr" | "Fn::GetAtt":
                found |= {value[0], *referred(value[1:])}
            case "if" | "Fn::If":
                found |= referred(value[1 if value[0] == "yes" else 2])
            case "Fn::Sub":
                text, values = value if isinstance(value, list) else (value, {})
                found |= {*re.findall(r"\$\{(\w+)", text), *referred(values)}
            case _:
                found |= referred(value)
    return found


def check(evaluation: Evaluation, expected: set[str]) -> None:
    errors = [d for d in evaluation.validate() if d.severity is Severity.ERROR]
    assert errors == []
    assert evaluation.dependencies["last"] == expected
    definition = evaluation.analyses["last"].definition
    assert definition is not None
    unknown = definition.properties["value"]
    if isinstance(unknown, Unknown):
        assert unknown.sources <= expected


@CALM
@given(HOT, HOT)
def test_hot_depends_on_all_that_it_refers_to(value: Any, metadata: Any) -> None:
    resources: dict[str, Any] = {
        name: {"type": "OS::Heat::Value", "properties": {"value": name}} for name in NAMES
    }
    resources["last"] = {
        "type": "OS::Heat::Value",
        "properties": {"value": value},
        "metadata": {"m": metadata},
    }
    document = {
        "heat_template_version": "2021-04-16",
        "parameters": {"data": {"type": "json", "default": {}}},
        "conditions": {"yes": True, "no": {"not": "yes"}},
        "resources": resources,
    }
    check(evaluated(document), referred([value, metadata]))


@CALM
@given(CFN)
def test_cloudformation_depends_on_all_that_it_refers_to(value: Any) -> None:
    resources: dict[str, Any] = {
        name: {"Type": "OS::Heat::Value", "Properties": {"value": name}} for name in NAMES
    }
    resources["last"] = {"Type": "OS::Heat::Value", "Properties": {"value": value}}
    document = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Conditions": {"yes": {"Fn::Equals": ["a", "a"]}, "no": {"Fn::Equals": ["a", "b"]}},
        "Mappings": {"m": {"a": {"b": "c"}}},
        "Resources": resources,
    }
    check(evaluated(document), referred(value))


def evaluated(document: dict[str, Any]) -> Evaluation:
    return Evaluation(parse(document), with_helpers(), TYPES)


@pytest.mark.parametrize(
    "path", [["value", {"get_attr": ["b", "value"]}], [{"get_attr": ["b", "value"]}]]
)
def test_path_completed_by_other_resource_is_followed(path: list[Any]) -> None:
    """The resource at the beginning of the path is waited for, and its attributes are read."""

    async def story(lab: Lab) -> None:
        await lab.create(
            template(
                {
                    "last": thing(value={"get_attr": ["a", *path]}),
                    "a": thing(value="v", slow=30),
                    "b": thing(value="value" if len(path) == 1 else "0"),
                },
                outputs={"o": {"value": {"get_attr": ["last", "value"]}}},
            )
        )
        assert await lab.status() == "CREATE_COMPLETE", (await lab.stack()).reason
        rows = await lab.rows()
        assert set(rows["last"].dependencies) == {"a", "b"}
        if len(path) == 1:
            assert rows["last"].properties["value"] == "v"

    in_lab(story)
