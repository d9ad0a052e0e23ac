"""Facts that are stored when an action fails."""

from __future__ import annotations

import itertools

from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.types import Thing, Types
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.records import Status
from stoker.kernel.errors import UnavailableError
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


def test_failed_resource_keeps_explaining_attributes() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {"type": Explaining.type_name}}))
        row = (await lab.rows())["a"]
        assert row.status is Status.FAILED
        assert row.attributes["value"] == "what it printed"

    world = World(1, types=WithExplaining())
    world.cloud.trouble = 0.0
    world.live(lambda engine: story(Lab(engine, world)))


class OutOfOrder(Thing):
    """Its first creates find a service that does not answer."""

    type_name = "Sim::OutOfOrder"
    left = 3

    def create(self, call: Call) -> Outcome:
        self.left -= 1
        if self.left > 0:
            raise UnavailableError("the identity service cannot be used")
        return super().create(call)


class RefusedOnce(Thing):
    """Its first create fails."""

    type_name = "Sim::RefusedOnce"
    refused = False

    def create(self, call: Call) -> Outcome:
        if self.refused:
            return super().create(call)
        self.refused = True
        return Failed("it is broken")


def test_create_waits_for_service_it_depends_on() -> None:
    types = Types()
    types._types[OutOfOrder.type_name] = OutOfOrder()
    world = World(1, types=types)
    world.cloud.trouble = 0.0

    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {"type": OutOfOrder.type_name}}))
        assert await lab.status() == "CREATE_COMPLETE"

    world.live(lambda engine: story(Lab(engine, world)))


def test_object_failed_before_crash_is_removed_after_replacement() -> None:
    ends = []
    for after in itertools.count(10):
        types = Types()
        types._types[RefusedOnce.type_name] = RefusedOnce()
        world = World(1, types=types)
        world.cloud.trouble = 0.0

        async def create(engine: EngineLife, world: World = world) -> bool:
            await Lab(engine, world).create(template({"a": {"type": RefusedOnce.type_name}}))
            return True

        async def rest(engine: EngineLife, world: World = world) -> str | None:
            await engine.dispatch.idle()
            lab = Lab(engine, world)
            if await engine.ports.store.find_stack(CALLER.project_id, "stack") is None:
                return None  # the engine died before the request was accepted
            stack = await lab.stack()
            if (status := await lab.status()) == "CREATE_COMPLETE":
                assert len(await engine.ports.store.resources(stack.id)) == 1
            return status

        if world.live(create, Kill(after, returns=False)):
            break
        if (end := world.live(rest)) is not None:
            ends.append(end)
    assert {"CREATE_COMPLETE", "CREATE_FAILED"} <= set(ends)


def test_metadata_without_value_fails_create() -> None:
    nested = "heat_template_version: 2018-08-31"
    made = {**thing(), "metadata": {"m": {"get_attr": ["n", "show"]}}}
    wanted = template({"n": {"type": "child.yaml"}, "a": made})

    async def story(lab: Lab) -> None:
        await lab.create(wanted, files={"child.yaml": nested})
        assert await lab.status() == "CREATE_FAILED"
        assert "the metadata of a refers to an attribute" in (await lab.stack()).reason

    in_lab(story)
