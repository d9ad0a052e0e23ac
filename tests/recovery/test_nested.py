"""A nested stack is made once, whenever the engine dies, and as in an undisturbed run."""

from __future__ import annotations

import pytest

from stoker.engine.model.requests import StackRequest
from tests.engine_world import Lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

FILES = {"child.yaml": "heat_template_version: 2018-08-31\nresources: {one: {type: Sim::Thing}}\n"}
WANTED = template({"nest": {"type": "child.yaml"}, "after": thing(depends_on="nest")})


@pytest.mark.parametrize("part", range(4))
def test_nested_stack_is_created_once_despite_a_crash(part: int) -> None:
    for turns in range(70 + 9 * part, 330, 36):
        world = World(7)
        world.cloud.trouble = 0.0

        async def begin(engine: EngineLife) -> None:
            body = StackRequest(name="stack", template=WANTED, files=FILES)
            await engine.operations.create(CALLER, body)
            await engine.dispatch.idle()

        async def end(engine: EngineLife, world: World = world) -> list[str]:
            await engine.dispatch.idle()
            stack = await Lab(engine, world).stack()
            children = await engine.ports.store.children(stack.id)
            return [f"{each.action}_{each.status}" for each in (stack, *children)]

        world.live(begin, Kill(turns, returns=False))
        with world.database.connect() as connection:
            recorded = connection.exec_driver_sql("SELECT count(*) FROM stacks").scalar()
        if recorded:
            assert world.live(end) == ["CREATE_COMPLETE", "CREATE_COMPLETE"], turns
