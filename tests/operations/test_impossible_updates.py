"""Updates that no cloud can carry out are rejected, and nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine_world import Lab, template
from tests.simulation.types import Thing, Types
from tests.simulation.world import World

from stoker.kernel.diagnostics import DiagnosticError
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import ResourceType

CHILD = """
heat_template_version: 2018-08-31
parameters: {size: {type: number}}
resources: {box: {type: Sim::Box, properties: {size: {get_param: size}}}}
"""
FILES = {"child.yaml": CHILD}


class Box(Thing):
    """An object that only grows, with a lid that no other box can have."""

    type_name = "Sim::Box"
    properties = {
        **Thing.properties,
        "size": Property(Type.INTEGER, update_allowed=True, only_grows=True),
        "lid": Property(Type.STRING, update_allowed=True),
    }

    def exclusive_objects(self, properties: Mapping[str, Any]) -> Mapping[str, str]:
        lid = properties.get("lid")
        return {lid: f"the lid {lid}"} if isinstance(lid, str) else {}


class BoxTypes(Types):
    """The simulated types, and boxes."""

    def find(self, type_name: str) -> ResourceType | None:
        return Box() if type_name == Box.type_name else super().find(type_name)


def in_box_world(story: Any) -> None:
    world = World(1, types=BoxTypes())
    world.live(lambda engine: story(Lab(engine, world)))


def box(**properties: Any) -> Mapping[str, Any]:
    return {"type": "Sim::Box", "properties": properties}


def nested(size: int) -> Mapping[str, Any]:
    return {"type": "child.yaml", "properties": {"size": size}}


def group(size: int) -> Mapping[str, Any]:
    properties = {"count": 2, "resource_def": box(size=size)}
    return {"type": "OS::Heat::ResourceGroup", "properties": properties}


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        pytest.param(
            {"a": box(size=2)}, {"a": box(size=1)}, "size cannot shrink from 2 to 1", id="shrink"
        ),
        pytest.param({"a": nested(2)}, {"a": nested(1)}, "size cannot shrink", id="nested"),
        pytest.param({"a": group(2)}, {"a": group(1)}, "size cannot shrink", id="group"),
        pytest.param(
            {"a": box(lid="red")},
            {"b": box(lid="red")},
            "b needs the lid red, which a holds",
            id="held",
        ),
    ],
)
def test_impossible_update_is_rejected_before_any_change(
    before: Any, after: Any, fault: str
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template(before), files=FILES)
        events = len(await lab.events())
        with pytest.raises(DiagnosticError, match=fault):
            await lab.begin_update(template(after), files=FILES)
        assert await lab.status() == "CREATE_COMPLETE"
        assert len(await lab.events()) == events

    in_box_world(story)


@pytest.mark.parametrize(
    "after",
    [
        pytest.param({"a": box(size=3, lid="red")}, id="growth"),
        pytest.param({"a": box(size=2, lid="red"), "b": box(size=1)}, id="smaller object"),
        pytest.param({"b": box(lid="blue")}, id="other lid"),
    ],
)
def test_possible_update_is_carried_out(after: Any) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": box(size=2, lid="red")}))
        await lab.update(template(after))
        assert await lab.status() == "UPDATE_COMPLETE"

    in_box_world(story)


def test_size_returns_while_growth_is_in_progress() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": box(size=1)}))
        await lab.begin_update(template({"a": box(size=3, lag=5)}))
        await lab.pass_time(1.0)
        await lab.update(template({"a": box(size=1)}))
        assert await lab.status() == "UPDATE_COMPLETE"

    in_box_world(story)
