"""Templates that replace types: required properties and attributes, and types that they may use."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template

from stoker.kernel.diagnostics import Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.environment.environment import Environment, parse_environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TYPES = Registry()
FACADE = """
heat_template_version: 2018-08-31
parameters: {one: {type: string}, two: {type: json}}
outputs: {here: {value: noop}}
"""
THING = "OS::Thingy"


def evaluate(registry: dict[str, Any], files: dict[str, str], **inputs: Any) -> Evaluation:
    document = template({"thing": {"type": THING, "properties": {"one": "1", "two": {}}}})
    environment = parse_environment({"resource_registry": registry})
    given = Inputs(environment=environment, files=files, **inputs)
    return Evaluation(parse(document), given, TYPES)


def messages(evaluation: Evaluation) -> list[str]:
    return [str(d) for d in evaluation.validate() if d.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            ", two: {type: json}",
            "",
            "Required property two for facade OS::Thingy missing in provider",
        ),
        (
            "two: {type: json}",
            "two: {type: string}",
            "Property two type mismatch between facade OS::Thingy (Map) and provider (String)",
        ),
        (
            "two: {type: json}",
            "two: {type: json}, three: {type: string}",
            "Provider requires property three unknown in facade OS::Thingy",
        ),
        (
            "outputs: {here: {value: noop}}",
            "",
            "Attribute here for facade OS::Thingy missing in provider",
        ),
    ],
)
def test_template_for_one_resource_must_match_its_facade(old: str, new: str, message: str) -> None:
    registry = {THING: "facade.yaml", "resources": {"thing": {THING: "concrete.yaml"}}}
    files = {"facade.yaml": FACADE, "concrete.yaml": FACADE.replace(old, new)}
    assert message in messages(evaluate(registry, files))
    assert messages(evaluate(registry, {**files, "concrete.yaml": FACADE})) == []


def test_stack_template_must_match_facade_of_service() -> None:
    files = {"facade.yaml": FACADE, "concrete.yaml": FACADE.replace("here", "there")}
    found = evaluate(
        {THING: "concrete.yaml"},
        files,
        service_environment=Environment(resource_registry={THING: "facade.yaml"}),
    )
    assert messages(found) == ["Attribute here for facade OS::Thingy missing in provider"]


WRAPPED = "Sim::Thing"
WRAPPER = """
heat_template_version: 2018-08-31
parameters: {value: {type: string}}
resources: {inner: {type: Sim::Thing, properties: {value: {get_param: value}}}}
outputs: {value: {value: {get_attr: [inner, value]}}, id: {value: {get_resource: inner}}}
"""


@pytest.mark.parametrize(
    "registry",
    [
        {WRAPPED: "nested.yaml"},
        {"Sim::T*": "nested.yaml"},
        {"resources": {"a": {WRAPPED: "nested.yaml"}}},
        {"My::Thing": WRAPPED, WRAPPED: "nested.yaml"},
    ],
    ids=["type", "glob", "one resource", "alias"],
)
def test_template_can_use_the_type_that_it_replaces(registry: dict[str, Any]) -> None:
    name = "My::Thing" if "My::Thing" in registry else WRAPPED

    async def story(lab: Lab) -> None:
        wanted = {"a": {"type": name, "properties": {"value": "one"}}}
        outputs = {"o": {"value": {"get_attr": ["a", "value"]}}}
        request: dict[str, Any] = {
            "environment": {"resource_registry": registry},
            "files": {"nested.yaml": WRAPPER},
        }
        await lab.create(template(wanted, outputs=outputs), **request)
        assert await lab.status() == "CREATE_COMPLETE", (await lab.stack()).reason
        row = (await lab.rows())["a"]
        assert row.nested_id is not None
        inner = await lab.engine.ports.store.resources(row.nested_id)
        assert [(each.type_name, each.nested_id) for each in inner] == [(WRAPPED, None)]
        [made] = lab.cloud.objects.values()
        changed = {"a": {"type": name, "properties": {"value": "two"}}}
        await lab.update(template(changed, outputs=outputs), **request)
        assert (await lab.rows())["a"].physical_id == row.physical_id
        assert list(lab.cloud.objects.values()) == [made]
        assert made.properties["value"] == "two"

    in_lab(story)


@pytest.mark.parametrize("key", ["OS::Heat::None", "OS::Heat::N*"])
def test_service_template_can_use_the_type_it_replaces(key: str) -> None:
    nested = json.dumps(template({"inner": {"type": "OS::Heat::None"}}))
    given = Inputs(
        files={"nested.yaml": nested},
        service_environment=Environment(resource_registry={key: "nested.yaml"}),
    )
    evaluation = Evaluation(parse(template({"a": {"type": "OS::Heat::None"}})), given, TYPES)
    assert messages(evaluation) == []
    inner = evaluation.children["a"]
    assert inner.names == ("inner",)
    assert inner.children == {}
