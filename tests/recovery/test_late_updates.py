"""An update that a cloud carries out after the death of its engine does not undo a later one."""

from __future__ import annotations

import asyncio

import pytest

from tests.engine_world import Lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import EngineLife, World


@pytest.mark.parametrize("turns", range(31, 43))
def test_late_update_does_not_undo_next_one(turns: int) -> None:
    world = World(1)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> None:
        await Lab(engine, world).create(template({"a": thing(value="first")}))

    async def change(engine: EngineLife) -> None:
        await Lab(engine, world).update(template({"a": thing(value="second")}))

    async def change_again(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        await lab.update(template({"a": thing(value="third")}))
        await asyncio.sleep(world.wire.rest)
        assert await lab.status() == "UPDATE_COMPLETE"
        [found] = world.cloud.objects.values()
        assert found.properties["value"] == "third"

    world.live(make)
    world.live(change, Kill(turns, returns=False, fate="late"))
    world.live(change_again)
