"""An operation ends at its time limit, in whatever phase it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.types import Thing, Types
from tests.simulation.world import EngineLife, Workers, World

from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, Done, Outcome

Result = TypeVar("Result")


class Quick(Thing):
    """Is gone with one call."""

    type_name = "Sim::Quick"

    def delete(self, call: Call) -> Outcome:
        call.cloud.delete(call.physical_id)
        return Done()


class QuickTypes(Types):
    def __init__(self) -> None:
        super().__init__()
        self._types["Sim::Quick"] = Quick()


class SlowWorkers(Workers):
    """Each call takes some seconds."""

    async def run(self, service: str | None, call: Callable[[], Result]) -> Result:
        await asyncio.sleep(4 if service else 0)
        return await super().run(service, call)


@pytest.mark.parametrize("failing", [False, True])
def test_removal_ends_at_the_time_limit(failing: bool) -> None:
    """Also when something else has failed before, whose grace would last longer."""

    async def story(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        limits = replace(engine.ports.limits, failure_grace=240.0)
        lab.engine = EngineLife(
            lab.apart(limits=limits, workers=SlowWorkers(world), types=QuickTypes())
        )
        quick = {
            f"c{n}": {
                "type": "Sim::Quick",
                "properties": {"value": "x"},
                **({"depends_on": f"c{n - 1}"} if n else {}),
            }
            for n in range(40)
        }
        await lab.create(template({**quick, "locked": thing(value="y")}))
        if failing:
            lab.cloud.undeletable.add(str((await lab.rows())["locked"].physical_id))
        begun = world.time()
        await lab.update(template({"new": thing()}), timeout_mins=1)
        assert await lab.status() == "UPDATE_FAILED"
        assert 55 <= (await lab.events())[-1].time - begun <= 70

    world = World(1, types=QuickTypes())
    world.cloud.trouble = 0.0
    world.live(story)


@pytest.mark.parametrize("step", [-7200.0, 7200.0])
def test_clock_change_does_not_affect_operation_timeout(step: float) -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing()}))
        gate = {"type": "Sim::Gate", "properties": {"count": 1}}
        time = lab.world.time
        begun = time()
        await lab.begin_update(template({"gate": gate}), timeout_mins=1)
        await lab.pass_time(3)
        lab.world.time = lambda: time() + step
        lab.engine.dispatch.wake(address.id)
        await lab.engine.dispatch.idle()
        assert 59 <= time() - begun <= 70
        assert await lab.status() == "UPDATE_FAILED"

    in_lab(story)
