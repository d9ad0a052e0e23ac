"""A resource is kept only if nothing at all calls for a change."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.engine.model.plans import UNOBSERVED, Change, Observed
from stoker.engine.model.records import Action, Resource, Status
from stoker.engine.planning.decision import KEEP, decide
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.schema.drift import Difference
from stoker.template.definition import Definition
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs
from stoker.template.evaluate.static_analysis import RecordedReferences

TYPE = "OS::Heat::Value"


def defined(type_name: str = TYPE) -> Definition:
    resource = {"type": type_name, "properties": {"value": "a"}, "metadata": {"m": 1}}
    document = {"heat_template_version": "2021-04-16", "resources": {"r": resource}}
    return Evaluation(parse(document), Inputs(), Registry()).definition("r", RecordedReferences())


def row(definition: Definition, **changes: Any) -> Resource:
    made = Resource(
        id="row",
        stack_id="s",
        name="r",
        type_name=definition.type_name,
        token="",
        created_at=0.0,
        updated_at=0.0,
        implementation=definition.type_name,
        action=Action.CREATE,
        physical_id="object",
        properties=definition.properties,
        metadata=definition.metadata,
    )
    return replace(made, **changes)


def decision(changed: Resource, definition: Definition, observed: Observed = UNOBSERVED) -> Any:
    def no_call(*arguments: Any) -> Any:
        raise AssertionError(arguments)

    return decide(changed, definition, no_call, observed)


def test_unchanged_resource_is_kept() -> None:
    definition = defined()
    assert decision(row(definition), definition) is KEEP
    assert decision(row(definition, action=Action.UPDATE), definition) is KEEP
    assert decision(row(definition, action=Action.CHECK), definition) is KEEP


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.FAILED},
        {"action": Action.DELETE},
        {"dirty": ("value",)},
        {"unhealthy": True},
        {"implementation": "OS::Heat::None"},
        {"implementation": ""},
        {"type_name": "Other::Name"},
        {"metadata": {"m": 2}},
        {"metadata": {}},
        {"update_policy": {"a": {}}},
        {"deletion_policy": "Retain"},
        {"dependencies": ("other",)},
        {"properties": {"value": "b"}},
    ],
    ids=str,
)
def test_resource_with_a_difference_is_changed(changes: dict[str, Any]) -> None:
    definition = defined()
    changed = row(definition)
    if "properties" in changes:
        changes = {"properties": {**definition.properties, **changes["properties"]}}
    assert decision(replace(changed, **changes), definition).change is not Change.KEEP


@pytest.mark.parametrize(
    "observed",
    [
        Observed(gone=frozenset({"row"})),
        Observed(drifted={"row": {"value": Difference("value", "a", "b")}}),
    ],
    ids=["gone", "drifted"],
)
def test_resource_with_another_live_object_is_changed(observed: Observed) -> None:
    definition = defined()
    assert decision(row(definition), definition, observed).change is not Change.KEEP
