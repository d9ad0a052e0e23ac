"""A property that is declared immutable cannot be changed, not even by a replacement."""

from __future__ import annotations

from typing import Any

from tests.engine_world import Lab, template
from tests.simulation.types import Thing, Types
from tests.simulation.world import World

from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import ResourceType


class Stone(Thing):
    """An object that cannot be changed after its creation."""

    type_name = "Sim::Stone"
    properties = {**Thing.properties, "grain": Property(Type.STRING, immutable=True)}


class Registry(Types):
    """The simulation's types, and stones."""

    def find(self, type_name: str) -> ResourceType | None:
        return Stone() if type_name == Stone.type_name else super().find(type_name)


def stone(grain: str) -> dict[str, Any]:
    return template({"stone": {"type": "Sim::Stone", "properties": {"grain": grain}}})


def test_update_of_immutable_property_fails_and_keeps_object() -> None:
    world = World(1, types=Registry())
    world.cloud.trouble = 0.0

    async def story(lab: Lab) -> None:
        await lab.create(stone("fine"))
        made = set(lab.cloud.objects)
        await lab.update(stone("coarse"))
        assert await lab.status() == "UPDATE_FAILED"
        assert "grain cannot be changed" in str((await lab.stack()).reason)
        assert set(lab.cloud.objects) == made

    world.live(lambda engine: story(Lab(engine, world)))
