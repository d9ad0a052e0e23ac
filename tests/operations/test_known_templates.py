"""Parts of the template of an update that the stack has already are not parsed again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.requests import StackRequest
from stoker.engine.service.requests.inputs import input_of
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.tree import same
from stoker.resources.base.registry import Registry
from stoker.template.document import Template, parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TEXT = """\
heat_template_version: 2021-04-16
resources: {a: {type: OS::Heat::None, properties: {x: 1}}}
"""
DATA: Mapping[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {"a": {"type": "OS::Heat::None", "properties": {"x": 1}}},
}
LOOPS = """\
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::LanguageExtensions
Resources: {"Fn::ForEach::l": [N, [a], {"R${N}": {Type: OS::Heat::None}}]}
"""


def used(known: Template, template: Any, **request: Any) -> Template:
    """Return the template of an update."""
    body = StackRequest(template=template, **request)
    earlier = Evaluation(known, Inputs(), Registry())
    return input_of("input", "stack", body, None, earlier)[1].template


def again(data: Any) -> Any:
    """Return the data as another request sends it, without a common object."""
    return msgspec.json.decode(msgspec.json.encode(data))


def test_same_text_is_used_again() -> None:
    known = parse(TEXT)
    assert used(known, TEXT) is known


@pytest.mark.parametrize(
    ("known", "template"),
    [
        (TEXT, TEXT.replace("x: 1", "x: 2")),
        (TEXT, TEXT.replace("x: 1", "x: 1.0")),
        (TEXT, DATA),
        (DATA, TEXT),
        (DATA, {**DATA, "description": "x"}),
        (DATA, {key: DATA[key] for key in reversed(DATA)}),
    ],
    ids=["value", "type", "data", "text", "section", "order"],
)
def test_other_template_is_parsed(known: Any, template: Any) -> None:
    found = used(parse(known), template)
    assert found.source.data == parse(template).source.data
    assert list(found.source.data) == list(parse(template).source.data)
    assert found.source.text == (template if isinstance(template, str) else None)


def test_same_text_in_another_file_is_parsed() -> None:
    known = parse(TEXT)
    assert used(known, TEXT, template_file="http://x.test/a.yaml") is not known


def test_template_with_loops_is_parsed() -> None:
    known = parse(LOOPS)
    assert used(known, LOOPS) is not known


def test_loop_that_is_not_run_adds_no_resource() -> None:
    of_type = {"Type": "OS::Heat::None"}
    known = {"AWSTemplateFormatVersion": "2010-09-09", "Transform": [], "Resources": {"A": of_type}}
    loop = {"Fn::ForEach::l": ["N", ["a"], {"R${N}": of_type}]}
    found = used(parse(known), {**known, "Resources": {"A": {"Type": "OS::Heat::Value"}, **loop}})
    assert [*found.resources] == ["A"]


def test_same_data_is_used_again() -> None:
    known = parse(DATA)
    assert used(known, again(DATA)) is known


def key_of(template: Any, **request: Any) -> Any:
    return EvaluationCache.document_key(StackRequest(template=template, **request))


def test_other_documents_have_other_keys() -> None:
    others = [TEXT, TEXT.replace("x: 1", "x: 1.0"), DATA, {**DATA, "x": 1}, {**DATA, "x": True}]
    large = resources(**{f"r{number}": number for number in range(150)})
    others += [{**DATA, "resources": each} for each in (large, {**large, **resources(r0=1)})]
    keys = [key_of(each) for each in others]
    assert None not in keys
    assert keys == [key_of(again(each), parameters={"p": 1}) for each in others]
    keys += [key_of(each, template_file="http://x.test/a.yaml") for each in others]
    assert len(set(keys)) == len(keys)
    assert key_of(DATA, version_optional=True) is None


def resources(**values: Any) -> dict[str, Any]:
    of_type = {"type": "OS::Heat::TestResource"}
    return {name: {**of_type, "properties": {"value": value}} for name, value in values.items()}


def test_unchanged_resources_of_other_data_are_used_again() -> None:
    known = parse({**DATA, "resources": resources(a=1, b=2, c=3)})
    found = used(known, again({**DATA, "resources": resources(a=1, b=True, c=3)}))
    assert found.resources["a"] is known.resources["a"]
    assert found.resources["c"] is known.resources["c"]
    assert found.resources["b"].properties == {"value": True}
    assert found.data["resources"]["a"] is known.data["resources"]["a"]


def test_values_that_python_takes_for_equal_are_changes() -> None:
    known = parse({**DATA, "resources": resources(a=1, b=0.0)})
    found = used(known, {**DATA, "resources": resources(a=True, b=-0.0)})
    assert found.resources["a"].properties["value"] is True
    assert repr(found.resources["b"].properties["value"]) == "-0.0"


def test_parameter_with_name_of_unchanged_resource_is_refused() -> None:
    known = parse({**DATA, "resources": resources(a=1, b=2)})
    wanted = {**DATA, "resources": resources(a=1, b=3), "parameters": {"a": {"type": "string"}}}
    with pytest.raises(DiagnosticError, match="already the name of a parameter"):
        used(known, wanted)


_VALUES = st.sampled_from([1, 1.0, True, 0.0, -0.0, "a", None, [1], [True], {"k": 1}, {"k": 1.0}])
_BODIES = st.fixed_dictionaries(
    {"type": st.sampled_from(["OS::Heat::Value", "", 5])},
    optional={
        "properties": st.dictionaries(st.sampled_from("pq"), _VALUES, max_size=2),
        "metadata": st.just({"stoker": {"moved_from": "x"}}) | st.just({"m": 1}),
        "depends_on": st.sampled_from(["a", ["a", "b"], [{}]]),
        "wrong": st.just(1),
    },
)
_DOCUMENTS = st.fixed_dictionaries(
    {
        "heat_template_version": st.sampled_from(["2021-04-16", "2013-05-23"]),
        "resources": st.dictionaries(st.sampled_from("abcd"), _BODIES, max_size=4),
    },
    optional={
        "parameters": st.dictionaries(st.sampled_from("ax"), st.just({"type": "string"})),
        "outputs": st.just({"o": {"value": 1}}),
        "description": st.sampled_from(["d", "\0"]),
        "wrong": st.just(1),
    },
)
_CFN_BODIES = st.fixed_dictionaries(
    {"Type": st.sampled_from(["OS::Heat::Value", 5])},
    optional={"Properties": st.dictionaries(st.sampled_from("pq"), _VALUES, max_size=2)},
)
_LOOP = "Fn::ForEach::L"
_CFN_DOCUMENTS = st.fixed_dictionaries(
    {
        "AWSTemplateFormatVersion": st.just("2010-09-09"),
        "Resources": st.dictionaries(st.sampled_from([*"abcd", _LOOP]), _CFN_BODIES, max_size=4),
    },
    optional={
        "Parameters": st.dictionaries(st.sampled_from("ax"), st.just({"Type": "String"})),
        "Transform": st.sampled_from([[], None, "AWS::LanguageExtensions"]),
    },
)
_PAIRS = st.tuples(st.just("resources"), _DOCUMENTS, _DOCUMENTS)
_PAIRS |= st.tuples(st.just("Resources"), _CFN_DOCUMENTS, _CFN_DOCUMENTS)


def shown(read: Any) -> Any:
    """Return everything that a template or its faults have, as text."""
    try:
        found = read()
    except DiagnosticError as error:
        return list(map(repr, error.diagnostics))
    return [found, found.size, list(found.resources), list(found.data)]


@settings(deadline=None, max_examples=300)
@given(_PAIRS, st.sets(st.sampled_from("abcd")))
def test_revised_template_equals_a_parsed_one(
    documents: tuple[str, dict[str, Any], dict[str, Any]], kept: set[str]
) -> None:
    section, first, second = documents
    same_resources = {n: again(b) for n, b in first[section].items() if n in kept}
    second[section] = {**second[section], **same_resources}
    try:
        known = parse(first)
    except DiagnosticError:
        return
    found, expected = (
        shown(lambda: used(known, again(second))),
        shown(lambda: parse(again(second))),
    )
    assert repr(found) == repr(expected)
    if not isinstance(found[0], str):
        assert same(dict(found[0].data), dict(expected[0].data))
