"""What is kept of an action that has failed."""

from __future__ import annotations

from tests.engine_world import Lab, template
from tests.simulation.types import Thing, Types
from tests.simulation.world import World

from stoker.engine.model.records import Status
from stoker.schema.resource_type import Call, Failed, Outcome


class Explaining(Thing):
    """Its creates fail, and say more than the reason does."""

    type_name = "Sim::Explaining"

    def create(self, call: Call) -> Outcome:
        return Failed("it is broken", call.resource_id, attributes={"value": "what it printed"})


class WithExplaining(Types):
    def __init__(self) -> None:
        super().__init__()
        self._types[Explaining.type_name] = Explaining()


def test_attributes_that_tell_more_of_a_failure_are_kept() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {"type": Explaining.type_name}}))
        row = (await lab.rows())["a"]
        assert row.status is Status.FAILED
        assert row.attributes["value"] == "what it printed"

    world = World(1, types=WithExplaining())
    world.cloud.trouble = 0.0
    world.live(lambda engine: story(Lab(engine, world)))
